import { SegmentedControl, Select, Stack } from '@mantine/core'
import { METRICS } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { ClockFields } from './ClockFields'
import { mappingAt, type Path, placeOf, valueAt } from './document'
import classes from './drafts.module.css'
import { NumberField, Reasons } from './fields'
import { phasesOf } from './metrics'
import { useDraft, useField } from './view'

const UNTIL: Path = ['until']
const FIRST_UNTIL = { metric: 'throughput_bps', phase: 'steady', half_width_percent: 5, most_cycles: 60 }
/** What each way of saying how long it takes has of its own. */
const WAYS: Readonly<Record<string, readonly (readonly [Path, unknown])[]>> = {
  cycles: [
    [['timetable', 'cycles'], 10],
    [['timetable', 'pause_s'], 10],
  ],
  until: [
    [UNTIL, FIRST_UNTIL],
    [['timetable', 'pause_s'], 10],
  ],
  hours: [
    [['timetable', 'duration_h'], 24],
    [['timetable', 'every_s'], 300],
  ],
}

/** When runs are wanted: how many, how far apart, and by which clock. */
export function Timetable() {
  const { data, editAll } = useDraft()
  const timetable = mappingAt(data, ['timetable'])
  const way = valueAt(data, UNTIL) === undefined ? ('duration_h' in timetable || 'every_s' in timetable ? 'hours' : 'cycles') : 'until'
  const change = (next: string) => {
    const made = WAYS[next] ?? []
    const kept = new Set(made.map(([path]) => placeOf(path)))
    const gone = (WAYS[way] ?? []).filter(([path]) => !kept.has(placeOf(path)))
    // First what is new: a timetable that is empty in between would be taken away with its comments.
    editAll([...made, ...gone.map(([path]) => [path, undefined] as const)])
  }
  return (
    <Panel title="Timetable">
      <Stack gap="md">
        <SegmentedControl
          size="xs"
          style={{ alignSelf: 'flex-start' }}
          aria-label="How long the campaign takes"
          data={[
            { value: 'cycles', label: 'A number of cycles' },
            { value: 'until', label: 'Until it is known' },
            { value: 'hours', label: 'A number of hours' },
          ]}
          value={way}
          onChange={change}
        />
        <Reasons path={['timetable']} />
        {way === 'until' ? <UntilFields /> : null}
        <div className={classes.pair}>
          {way === 'until' ? (
            <NumberField path={['timetable', 'pause_s']} label="Pause between cycles" unit="s" />
          ) : way === 'cycles' ? (
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

/** Which mean must be known, how exactly, and after how many cycles it ends anyhow. */
function UntilFields() {
  const { data } = useDraft()
  const metric = useField([...UNTIL, 'metric'])
  const phase = useField([...UNTIL, 'phase'])
  return (
    <>
      <Reasons path={UNTIL} />
      <div className={classes.pair}>
        <Select
          label="Mean of"
          description={metric.shape?.description}
          error={metric.error}
          data={METRICS.map(({ name, title }) => ({ value: name, label: title }))}
          allowDeselect={false}
          value={metric.value === undefined ? null : String(metric.value)}
          onChange={(next) => metric.set(next ?? undefined)}
        />
        <Select
          label="Phase"
          error={phase.error}
          data={phasesOf(data)}
          allowDeselect={false}
          value={String(phase.value ?? 'overall')}
          onChange={(next) => phase.set(next ?? undefined)}
        />
        <NumberField path={[...UNTIL, 'half_width_percent']} label="Known within ±" unit="%" required />
        <NumberField path={[...UNTIL, 'most_cycles']} label="Most cycles" required />
        <NumberField path={[...UNTIL, 'flow']} label="Flow" />
      </div>
    </>
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
