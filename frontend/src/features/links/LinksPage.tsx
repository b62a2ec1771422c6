import { Button, Table, Text } from '@mantine/core'
import { Link as PageLink } from '@tanstack/react-router'
import { useState } from 'react'
import type { Link } from '@/api/types'
import { formatBytes, formatNumber, formatRate } from '@/lib/format'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { Dialog } from '@/ui/Dialog'
import { Empty } from '@/ui/Empty'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { Tag } from '@/ui/Tag'
import { LinkForm } from './LinkForm'
import { useDeleteLink, useLinks } from './queries'

/** Which form is open: none, an empty one, or one link's. */
type Open = null | 'new' | Link

export function LinksPage() {
  const links = useLinks()
  const [open, setOpen] = useState<Open>(null)
  return (
    <>
      <PageHeader
        title="Links"
        description="The paths under test: a terminal with its receiver, and the servers that send through it."
        actions={<Button onClick={() => setOpen('new')}>Add link</Button>}
      />
      <Panel isFlush>
        <QueryPanel
          query={links}
          empty={({ items }) =>
            items.length === 0 ? (
              <Empty
                title="No links yet"
                action={
                  <Button variant="light" onClick={() => setOpen('new')}>
                    Add link
                  </Button>
                }
              >
                A link needs an agent behind the terminal and at least one that sends. Add <PageLink to="/agents">agents</PageLink> first.
              </Empty>
            ) : null
          }
        >
          {({ items }) => <LinksTable links={items} onEdit={setOpen} />}
        </QueryPanel>
      </Panel>
      <Dialog opened={open !== null} onClose={() => setOpen(null)} title={open === 'new' ? 'Add a link' : 'Change the link'} size="lg">
        {open === null ? null : <LinkForm link={open === 'new' ? null : open} onDone={() => setOpen(null)} />}
      </Dialog>
    </>
  )
}

const HEADS = ['Link', 'Orbit', 'Nominal rate', 'Base RTT', 'BDP', 'Receiver', 'Senders', 'Allowance', 'Now', '']

function LinksTable({ links, onEdit }: { links: Link[]; onEdit: (link: Link) => void }) {
  return (
    <ScrollTable label="Links">
      <Table.Thead>
        <Table.Tr>
          {HEADS.map((head) =>
            head ? (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ) : (
              <Table.Td key="actions" />
            ),
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {links.map((link) => (
          <Table.Tr key={link.id}>
            <Table.Th scope="row" style={{ whiteSpace: 'nowrap' }}>
              {link.name} {link.is_emulated ? <Tag title={link.profile ?? undefined}>emulated</Tag> : null}
              <Text size="xs" c="dimmed" fw={400}>
                {link.operator}
              </Text>
            </Table.Th>
            <Table.Td>{link.orbit}</Table.Td>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatRate(link.nominal_rate_bps)}</Table.Td>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatNumber(link.base_rtt_ms)} ms</Table.Td>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatBytes((link.nominal_rate_bps / 8) * (link.base_rtt_ms / 1000))}</Table.Td>
            <Table.Td>{link.receiver}</Table.Td>
            <Table.Td>{link.senders.join(', ')}</Table.Td>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>
              {link.allowance_bytes === null ? 'no limit' : formatBytes(link.allowance_bytes)}
            </Table.Td>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>
              {link.run_id ? (
                <PageLink to="/runs/$runId" params={{ runId: link.run_id }}>
                  a run
                </PageLink>
              ) : (
                'free'
              )}
            </Table.Td>
            <Table.Td style={{ whiteSpace: 'nowrap' }} ta="right">
              <Button size="compact-sm" variant="default" mr={6} onClick={() => onEdit(link)} aria-label={`Change ${link.name}`}>
                Change
              </Button>
              <Delete link={link} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  )
}

function Delete({ link }: { link: Link }) {
  const remove = useDeleteLink()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="subtle"
      color="gray"
      aria-label={`Delete ${link.name}`}
      question={`Delete ${link.name}?`}
      consequence="Ended campaigns keep their results and the link's name."
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={(close) => remove.mutate({ params: { path: { link_id: link.id } } }, { onSuccess: close })}
    >
      Delete
    </ConfirmButton>
  )
}
