import { Alert, Button, Group, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Share } from '@/api/types'
import { formatMoment, formatRelative } from '@/lib/time'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { CopyCommand } from '@/ui/CopyCommand'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { useNow } from '@/ui/useNow'
import { useMakeShare, useRevokeShare, useShares } from './queries'

const DAYS = { '1': 'in one day', '7': 'in 7 days', '30': 'in 30 days', '90': 'in 90 days' } as const
type Days = 1 | 7 | 30 | 90

/** Links that let people without an account read this campaign: a new one, and those that work. */
export function SharedLinks({ campaignId }: { campaignId: string }) {
  return (
    <Stack>
      <Text size="sm">
        Anyone with a link can read this campaign's report, results and tables without an account, until the link expires or is revoked.
        Nothing else here can be reached by it.
      </Text>
      <NewShare campaignId={campaignId} />
      <Shares campaignId={campaignId} />
    </Stack>
  )
}

function NewShare({ campaignId }: { campaignId: string }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState<string>('30')
  const make = useMakeShare()
  const submit = () =>
    make.mutate(
      { params: { path: { campaign_id: campaignId } }, body: { name: name.trim(), expires_in_days: Number(days) as Days } },
      { onSuccess: () => setName('') },
    )
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Group align="flex-end" gap="md">
          <TextInput
            label="For"
            placeholder="Partners of the project"
            flex="1 1 200px"
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <Select
            label="Expires"
            w={140}
            allowDeselect={false}
            data={Object.entries(DAYS).map(([value, label]) => ({ value, label }))}
            value={days}
            onChange={(value) => setDays(value ?? '30')}
          />
          <Button type="submit" loading={make.isPending} disabled={name.trim() === ''}>
            Make link
          </Button>
        </Group>
      </form>
      {make.error ? <ProblemAlert error={make.error} /> : null}
      {make.data ? (
        <Alert
          color="green"
          variant="light"
          // The link scrolls beside its button instead of pushing it out.
          styles={{ body: { minWidth: 0 } }}
          title={`The link for “${make.data.name}” is created. Copy it now: it is shown only once.`}
        >
          <CopyCommand value={make.data.link} label="The new link" />
        </Alert>
      ) : null}
    </>
  )
}

function Shares({ campaignId }: { campaignId: string }) {
  const shares = useShares(campaignId)
  const now_ms = useNow()
  return (
    <QueryPanel query={shares} skeletonRows={2} empty={({ items }) => (items.length === 0 ? <Nobody /> : null)}>
      {({ items }) => (
        <ScrollTable label="Links to this campaign" heads={['For', 'Expires', 'Opened', 'Made by', '']}>
          {items.map((share) => (
            <Table.Tr key={share.id}>
              <Table.Th scope="row">{share.name}</Table.Th>
              <Table.Td>{formatMoment(share.expires_at)}</Table.Td>
              <Table.Td>{share.opened === 0 ? 'never' : `${share.opened} ×, last ${formatRelative(share.opened_at, now_ms)}`}</Table.Td>
              <Table.Td>{share.created_by}</Table.Td>
              <Table.Td ta="right">
                <Revoke campaignId={campaignId} share={share} />
              </Table.Td>
            </Table.Tr>
          ))}
        </ScrollTable>
      )}
    </QueryPanel>
  )
}

const Nobody = () => (
  <Text size="sm" c="dimmed">
    No link to this campaign works at present.
  </Text>
)

function Revoke({ campaignId, share }: { campaignId: string; share: Share }) {
  const revoke = useRevokeShare()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={`Revoke the link for “${share.name}”?`}
      consequence="The link stops working at once. This cannot be undone."
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={(close) => revoke.mutate({ params: { path: { campaign_id: campaignId, share_id: share.id } } }, { onSuccess: close })}
    >
      Revoke
    </ConfirmButton>
  )
}
