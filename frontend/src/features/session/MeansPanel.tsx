import { Table } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { API, api } from '@/api/client'
import type { Means } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'

const PATH = `${API}/account/access` as const

const KINDS: Record<Means['kind'], string> = {
  token: 'API token',
  connection: 'Sign-in with the identity provider',
  channel: 'Notifications',
  share: 'Link to a campaign',
  call_secret: 'Secret for calls that start runs',
  enrolment: 'Unused right to join as an agent',
  invitation: 'Invitation, not used yet',
  visit: 'Sign-in with the identity provider, under way',
}

/** All that gives access through this account beside its browsers, and one button that ends it. */
export function MeansPanel() {
  const means = api.useQuery('get', PATH)
  return (
    <Panel
      title="What else gives access"
      description="Created by this account's browsers and tokens. If someone else had access to one of them, end all of these."
      isFlush
    >
      <QueryPanel
        query={means}
        empty={({ items }) =>
          items.length === 0 ? <Empty title="Nothing">No token, link or connection of this account works.</Empty> : null
        }
      >
        {({ items }) => <MeansTable means={items} />}
      </QueryPanel>
    </Panel>
  )
}

function MeansTable({ means }: { means: Means[] }) {
  return (
    <>
      <ScrollTable label="What else gives access" heads={['What', 'Name', 'Made', 'Ends']} role="table" data-stacks>
        {means.map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id, and are replaced together
          <Table.Tr role="row" key={index}>
            <Table.Th scope="row" role="rowheader">
              {KINDS[each.kind]}
            </Table.Th>
            <Table.Td role="cell" data-label="Name" style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
              {each.name || '–'}
            </Table.Td>
            <Table.Td role="cell" data-label="Made">
              {each.created_at ? formatMoment(each.created_at) : '–'}
            </Table.Td>
            <Table.Td role="cell" data-label="Ends">
              {each.expires_at ? formatMoment(each.expires_at) : 'not by itself'}
            </Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
      <EndAll means={means} />
    </>
  )
}

function EndAll({ means }: { means: Means[] }) {
  const cache = useQueryClient()
  const end = api.useMutation('post', `${PATH}/end`, { onSuccess: () => cache.invalidateQueries() })
  const kinds = [...new Set(means.map(({ kind }) => kind))]
  return (
    <ConfirmButton
      m="md"
      variant="default"
      question="End all of this?"
      consequence="Scripts with these tokens, people with these links and calls with these secrets are refused from now on. Notifications are switched off."
      isPending={end.isPending}
      error={end.error}
      onConfirm={(close) => end.mutate({ body: { kinds } }, { onSuccess: close })}
    >
      End all of it
    </ConfirmButton>
  )
}
