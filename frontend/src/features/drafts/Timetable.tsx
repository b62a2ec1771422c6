import { Select, Stack } from '@mantine/core'
import { METRICS } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { ClockFields } from './ClockFields'
import { mappingAt, type Path, placeOf, valueAt } from './document'
import classes from './drafts.module.css'
import { NumberField, Reasons, SegmentField } from './fields'
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

/** When runs are wanted: how many, how far apart, and in which time zone. */
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
        <SegmentField
          label="How long the campaign takes"
          data={[
            { value: 'cycles', label: 'By cycles' },
            { value: 'until', label: 'Until it is known' },
            { value: 'hours', label: 'By hours' },
          ]}
          value={way}
          onChange={change}
        />
        <Reasons path={['timetable']} />
        {way === 'until' ? <UntilFields /> : null}
        <div className={classes.pair}>
          {way === 'cycles' ? <NumberField path={['timetable', 'cycles']} label="Cycles" required /> : null}
          {way === 'hours' ? (
            <>
              <NumberField path={['timetable', 'duration_h']} label="Duration" unit="h" required />
              <NumberField path={['timetable', 'every_s']} label="A run on each link every" unit="s" required />
            </>
          ) : (
            <NumberField path={['timetable', 'pause_s']} label="Pause between cycles" unit="s" help="0 to 86,400 s" placeholder="0 s" />
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
          { value: 'shuffled', label: 'drawn for each cycle' },
        ]}
        allowDeselect={false}
        value={String(value ?? 'interleaved')}
        onChange={(next) => set(next ?? undefined)}
      />
      {isShuffled ? <NumberField path={['timetable', 'seed']} label="Seed" /> : null}
    </>
  )
}
