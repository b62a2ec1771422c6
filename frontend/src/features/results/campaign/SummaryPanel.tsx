import type { EventTimes, Interval } from '@/api/types'
import { IntervalMark } from '@/charts/IntervalMark'
import { Swatch } from '@/charts/Swatch'
import { formatEstimate } from '@/lib/format'
import { MBPS_PER_BPS } from '@/lib/units'
import { Panel } from '@/ui/Panel'
import { eventTimesText, levelSentence } from './eventTimes'
import type { LabelledGroup } from './series'
import classes from './summary.module.css'

type Shown = Pick<Interval, 'mean' | 'low' | 'high'> & { text: string }

const estimateOf = (interval: Interval): Shown => ({ ...interval, text: formatEstimate(interval, MBPS_PER_BPS) })
const medianOf = (times: EventTimes): Shown => ({ ...times, mean: times.median, text: eventTimesText(times) })

const COLUMNS: { title: string; unit: string; of: (one: LabelledGroup) => Shown }[] = [
  { title: 'Time to steady state', unit: 's', of: ({ group }) => medianOf(group.time_to_steady_s) },
  { title: 'Time to common level', unit: 's', of: ({ group }) => medianOf(group.time_to_level_s) },
  { title: 'Throughput, start-up', unit: 'Mb/s', of: ({ group }) => estimateOf(group.metrics.startup.throughput_bps) },
  { title: 'Throughput, steady state', unit: 'Mb/s', of: ({ group }) => estimateOf(group.metrics.steady.throughput_bps) },
]
/** Intervals of few runs are many times wider than the means: a mark shows this much of them. */
const REACH = 1.5

function topOf(groups: readonly LabelledGroup[], of: (one: LabelledGroup) => Shown): number {
  const mean = Math.max(0, ...groups.map((one) => of(one).mean ?? 0))
  return Math.min(Math.max(mean, ...groups.map((one) => of(one).high ?? 0)), mean * REACH)
}

/** "3", "3, 1 too short". */
const runsText = ({ group }: LabelledGroup) => (group.too_short > 0 ? `${group.runs}, ${group.too_short} too short` : group.runs)

/** The first answer: how soon, and how much. */
export function SummaryPanel({ groups }: { groups: LabelledGroup[] }) {
  const tops = COLUMNS.map(({ of }) => topOf(groups, of))
  const tooShort = groups.some(({ group }) => group.too_short > 0)
  return (
    <Panel
      title="At a glance"
      description={`Times: median over all runs, also of those that did not get there. ${levelSentence(groups)} Throughput: mean over runs with its 95 % confidence interval.${
        tooShort ? ' Runs under a second are too short for a series and have no numbers.' : ''
      }`}
      isFlush
    >
      {/* Roles are said aloud: on narrow screens these elements are no table boxes, and browsers then drop their roles. */}
      <table role="table" aria-label="Key figures per condition" className={classes.summary}>
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">
              Condition
            </th>
            <th scope="col" role="columnheader">
              n
            </th>
            {COLUMNS.map(({ title, unit }) => (
              <th key={title} scope="col" role="columnheader">
                {title}, {unit}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {groups.map((one) => (
            <tr key={one.label} role="row">
              <th scope="row" role="rowheader">
                <span className={classes.name}>
                  <Swatch style={one.style} /> {one.label}
                </span>
              </th>
              <td role="cell" data-label="n">
                {runsText(one)}
              </td>
              {COLUMNS.map(({ title, unit, of }, index) => (
                <td key={title} role="cell" data-label={`${title}, ${unit}`}>
                  <span className={classes.figure}>
                    <strong>{of(one).text}</strong>
                    <IntervalMark {...of(one)} max={(tops[index] ?? 0) * 1.05} style={one.style} width={110} />
                  </span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}
