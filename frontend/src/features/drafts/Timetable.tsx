import { SegmentedControl, Select, Stack } from '@mantine/core'
import { Panel } from '@/ui/Panel'
import { ClockFields } from './ClockFields'
import classes from './drafts.module.css'
import { NumberField, Reasons } from './fields'
import { mappingAt, useDraft, useField } from './view'

const WAYS: Readonly<Record<string, Record<string, number>>> = {
  cycles: { cycles: 10, pause_s: 10 },
  hours: { duration_h: 24, every_s: 300 },
}

/** When runs are wanted: how many, how far apart, and by which clock. */
export function Timetable() {
  const { data, editAll } = useDraft()
  const timetable = mappingAt(data, ['timetable'])
  const way = 'duration_h' in timetable || 'every_s' in timetable ? 'hours' : 'cycles'
  const change = (next: string) =>
    editAll([
      ...Object.entries(WAYS[next] ?? {}).map(([key, value]) => [['timetable', key], value] as const),
      ...Object.keys(WAYS[way] ?? {}).map((key) => [['timetable', key], undefined] as const),
    ])
  return (
    <Panel title="Timetable">
      <Stack gap="md">
        <SegmentedControl
          size="xs"
          style={{ alignSelf: 'flex-start' }}
          aria-label="How long the campaign takes"
          data={[
            { value: 'cycles', label: 'A number of cycles' },
            { value: 'hours', label: 'A number of hours' },
          ]}
          value={way}
          onChange={change}
        />
        <Reasons path={['timetable']} />
        <div className={classes.pair}>
          {way === 'cycles' ? (
            <>
              <NumberField path={['timetable', 'cycles']} label="Cycles" required />
              <NumberField path={['timetable', 'pause_s']} label="Pause between cycles" unit="s" />
            </>
          ) : (
            <>
              <NumberField path={['timetable', 'duration_h']} label="Duration" unit="h" required />
              <NumberField path={['timetable', 'every_s']} label="A run on each link every" unit="s" required />
            </>
          )}
          <Order />
        </div>
        <ClockFields />
      </Stack>
    </Panel>
  )
}

function Order() {
  const { value, shape, error, set } = useField(['timetable', 'order'])
  const isShuffled = value === 'shuffled'
  return (
    <>
      <Select
        label="Order in a cycle"
        description={shape?.description}
        error={error}
        data={[
          { value: 'interleaved', label: 'as listed' },
          { value: 'shuffled', label: 'drawn anew' },
        ]}
        allowDeselect={false}
        value={String(value ?? 'interleaved')}
        onChange={(next) => set(next ?? undefined)}
      />
      {isShuffled ? <NumberField path={['timetable', 'seed']} label="Seed" /> : null}
    </>
  )
}
