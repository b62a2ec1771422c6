import type { Interval } from '@/api/types'
import { IntervalMark } from '@/charts/IntervalMark'
import { Swatch } from '@/charts/Swatch'
import { formatEstimate } from '@/lib/format'
import { MBPS_PER_BPS } from '@/lib/units'
import { Panel } from '@/ui/Panel'
import type { LabelledGroup } from './series'
import classes from './summary.module.css'

const COLUMNS: { title: string; unit: string; factor: number; of: (one: LabelledGroup) => Interval }[] = [
  { title: 'Time to steady state', unit: 's', factor: 1, of: ({ group }) => group.time_to_steady_s },
  { title: 'Throughput, start-up', unit: 'Mb/s', factor: MBPS_PER_BPS, of: ({ group }) => group.metrics.startup.throughput_bps },
  { title: 'Throughput, steady state', unit: 'Mb/s', factor: MBPS_PER_BPS, of: ({ group }) => group.metrics.steady.throughput_bps },
]

/** The first answer: how soon, and how much. */
export function SummaryPanel({ groups }: { groups: LabelledGroup[] }) {
  const tops = COLUMNS.map(({ of }) => Math.max(0, ...groups.map((one) => of(one).high ?? of(one).mean ?? 0)))
  return (
    <Panel title="At a glance" description="Mean over runs ± half of the 95 % confidence interval (Student's t); n runs each." isFlush>
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
                <Swatch style={one.style} /> {one.label}
              </th>
              <td role="cell" data-label="n">
                {one.group.runs}
              </td>
              {COLUMNS.map(({ title, unit, factor, of }, index) => (
                <td key={title} role="cell" data-label={`${title}, ${unit}`}>
                  <span className={classes.figure}>
                    <strong>{formatEstimate(of(one), factor)}</strong>
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
