import { Box, Button, Group, Stack, Table, Text } from '@mantine/core'
import type { CampaignDetail, TriggerState } from '@/api/types'
import { plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { CopyCommand } from '@/ui/CopyCommand'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { useNewSecret, useTrigger } from './queries'
import { causeValue, waitingText } from './trigger'

/** Of a campaign with a trigger: what it waits for, the last firing, and why it did not fire. */
export function TriggerPanel({ campaign }: { campaign: CampaignDetail }) {
  const state = useTrigger(campaign.id, campaign.spec.trigger !== undefined && campaign.state !== 'draft')
  if (!campaign.spec.trigger || campaign.state === 'draft') return null
  return (
    <Box mb="md">
      <QueryPanel query={state} skeletonRows={2}>
        {(found) => <Content {...{ campaign, found }} />}
      </QueryPanel>
    </Box>
  )
}

function Content({ campaign, found }: { campaign: CampaignDetail; found: TriggerState }) {
  return (
    <Panel title="Trigger" description={waitingText(found)}>
      <Stack gap="sm">
        {found.waits ? <Text size="sm">{found.waits}</Text> : null}
        {found.free_at ? <Text size="sm">It may fire again from {formatMoment(found.free_at)} on.</Text> : null}
        {found.refusal ? (
          <Text size="sm">
            <b>Not fired</b> at {formatMoment(found.refused_at)}: {found.refusal}
          </Text>
        ) : null}
        {found.takes_calls ? <Calls {...{ campaign, found }} /> : null}
        {found.firings.length > 0 ? <Firings found={found} /> : null}
      </Stack>
    </Panel>
  )
}

function Firings({ found }: { found: TriggerState }) {
  return (
    <ScrollTable label="Firings" aria-label="Firings" heads={['Firing', 'At', 'Cause', 'Value', 'First cycle', 'Runs']}>
      {found.firings.map((one) => (
        <Table.Tr key={one.number}>
          <Table.Th scope="row">{one.number}</Table.Th>
          <Table.Td>{formatMoment(one.at)}</Table.Td>
          <Table.Td>{one.cause.name}</Table.Td>
          <Table.Td>{causeValue(one.cause)}</Table.Td>
          <Table.Td>{one.first_cycle}</Table.Td>
          <Table.Td>{plural(one.runs, 'run')}</Table.Td>
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}

/** The secret of signed calls: made here, and shown once. */
function Calls({ campaign, found }: { campaign: CampaignDetail; found: TriggerState }) {
  const secret = useNewSecret()
  const make = (then?: () => void) => secret.mutate({ params: { path: { campaign_id: campaign.id } } }, { onSuccess: () => then?.() })
  const address = `${window.location.origin}/api/v1/campaigns/${campaign.id}/trigger/call`
  return (
    <Allowed verb="run_campaign" owner={campaign.owner_id}>
      <Stack gap="xs">
        {secret.data ? (
          <>
            <Text size="sm">The secret that calls are signed with. It is shown only once:</Text>
            <CopyCommand label="Secret of signed calls" value={secret.data.secret} />
          </>
        ) : null}
        {found.has_secret || secret.data ? null : <Text size="sm">Each call is signed with a secret. Make it first.</Text>}
        <Text size="sm">Calls go to this address:</Text>
        <CopyCommand label="Address of signed calls" value={address} />
        <Group>
          {found.has_secret ? (
            <ConfirmButton
              variant="default"
              size="xs"
              question="Make a new secret?"
              consequence="Calls that are signed with the old secret are refused from then on."
              isPending={secret.isPending}
              error={secret.error}
              onConfirm={(close) => make(close)}
            >
              New secret
            </ConfirmButton>
          ) : (
            <Button size="xs" loading={secret.isPending} onClick={() => make()}>
              Make the secret
            </Button>
          )}
        </Group>
        {secret.error && !found.has_secret ? <ProblemAlert error={secret.error} /> : null}
      </Stack>
    </Allowed>
  )
}
