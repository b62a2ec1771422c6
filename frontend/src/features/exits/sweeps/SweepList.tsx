import { Button, Group, Table, Text } from '@mantine/core'
import type { Sweep } from '@/api/types'
import { plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { ProgressBar } from '@/ui/ProgressBar'
import { ScrollTable } from '@/ui/ScrollTable'
import { StateBadge } from '@/ui/StateBadge'
import { versionName } from '../detectors'
import { useDeleteSweep } from './queries'
import { setCount, valuesText } from './values'

interface SweepListProps {
  sweeps: Sweep[]
  total: number
  shownId: string | undefined
  onShow: (sweep: Sweep) => void
}

/** Earlier sweeps and those under way, newest first. */
export function SweepList({ sweeps, total, shownId, onShow }: SweepListProps) {
  return (
    <>
      <ScrollTable label="Sweeps" heads={['Detector', 'Values', 'State', 'Started', '']}>
        {sweeps.map((sweep) => (
          <Row key={sweep.id} sweep={sweep} isShown={sweep.id === shownId} onShow={onShow} />
        ))}
      </ScrollTable>
      {total > sweeps.length ? (
        <Text size="xs" c="dimmed" px="md" py="xs">
          {plural(total - sweeps.length, 'older sweep')} not shown; delete newer ones to see them.
        </Text>
      ) : null}
    </>
  )
}

function Row({ sweep, isShown, onShow }: { sweep: Sweep; isShown: boolean; onShow: (sweep: Sweep) => void }) {
  const name = versionName(sweep.detector, sweep.version)
  const values = Object.entries(sweep.grid).map(([parameter, list]) => `${parameter} ${valuesText(list)}`)
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={550}>
        {name}
      </Table.Th>
      <Table.Td miw={220} style={{ whiteSpace: 'normal' }}>
        {plural(setCount(sweep.grid), 'parameter set')}
        <Text size="xs" c="dimmed">
          {values.join(' · ')}
        </Text>
      </Table.Td>
      <Table.Td miw={150}>
        <StateBadge state={sweep.state} />
        <Progress sweep={sweep} />
      </Table.Td>
      <Table.Td>{formatMoment(sweep.created_at)}</Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          <Button size="compact-xs" variant="default" aria-pressed={isShown} onClick={() => onShow(sweep)}>
            {isShown ? 'Shown' : 'Show'}
          </Button>
          <Allowed verb="derive">
            <Delete sweep={sweep} name={name} />
          </Allowed>
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

function Progress({ sweep: { state, reason, done, total } }: { sweep: Sweep }) {
  if (state === 'failed') {
    return (
      <Text size="xs" maw={280} style={{ whiteSpace: 'normal' }}>
        {reason}
      </Text>
    )
  }
  return (
    <Text size="xs" c="dimmed" component="div" mt={4}>
      {done} of {plural(total, 'trace')}
      {state === 'complete' ? null : <ProgressBar label="Traces swept" total={total} segments={[{ tone: 'active', count: done }]} />}
    </Text>
  )
}

function Delete({ sweep, name }: { sweep: Sweep; name: string }) {
  const remove = useDeleteSweep()
  return (
    <ConfirmButton
      size="compact-xs"
      variant="default"
      question={`Delete this sweep of ${name}?`}
      consequence="Its maps are deleted. The traces stay, so the sweep can be repeated."
      aria-label={`Delete the sweep of ${name} from ${formatMoment(sweep.created_at)}`}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={(close) => remove.mutate({ params: { path: { sweep_id: sweep.id } } }, { onSuccess: close })}
    >
      Delete
    </ConfirmButton>
  )
}
