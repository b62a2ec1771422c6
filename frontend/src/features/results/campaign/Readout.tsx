import type { PhaseName } from '@/api/types'
import type { Window } from '@/charts/axes'
import { readingAt } from '@/charts/bands'
import { useCursor } from '@/charts/cursor'
import { Swatch } from '@/charts/Swatch'
import { formatEstimate, NO_VALUE } from '@/lib/format'
import { phaseTitle } from '@/lib/quantities'
import { Estimate } from '@/ui/Estimate'
import classes from './results.module.css'
import { bandSeries, knownQuantities, type LabelledGroup, type StackedQuantity } from './series'

interface ReadoutProps {
  groups: LabelledGroup[]
  hidden: readonly string[]
  onToggle: (label: string) => void
  /** A series that the pointer or the focus rests on, or null. */
  onPick: (label: string | null) => void
  windows: readonly Window[]
  /** Whose means are shown while there is no cursor. */
  phase: PhaseName
}

/** Legend and readout in one: every series with its values at the cursor, or its phase means when there is none. */
export function Readout({ groups, hidden, onToggle, onPick, windows, phase }: ReadoutProps) {
  const x = useCursor()
  const quantities = knownQuantities(groups)
  const window = x === null ? undefined : windows.find((one) => x >= one.from && x < one.to)
  return (
    <div className={classes.readout}>
      {/* Roles are said aloud: on narrow screens these elements are no table boxes, and browsers then drop their roles. */}
      <table role="table" aria-label="Series and their values at the cursor">
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader" className={classes.readoutWhen}>
              {x === null ? `Mean, ${phaseTitle(phase).toLowerCase()}` : `At ${x} s`}
              {window ? <span className={classes.readoutPhase}> {window.label}</span> : null}
            </th>
            <th scope="col" role="columnheader">
              n
            </th>
            {quantities.map((quantity) => (
              <th key={quantity.name} scope="col" role="columnheader">
                {quantity.title} <small>{quantity.unit.split(' ')[0]}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {groups.map((one) => {
            const isHidden = hidden.includes(one.label)
            return (
              <tr key={one.label} role="row" data-hidden={isHidden || undefined}>
                <th scope="row" role="rowheader">
                  <button
                    type="button"
                    className={classes.toggle}
                    aria-pressed={!isHidden}
                    onClick={() => onToggle(one.label)}
                    {...picking(isHidden ? null : one.label, onPick)}
                  >
                    <Swatch style={one.style} />
                    <span>{one.label}</span>
                  </button>
                </th>
                <Values {...{ one, x, phase, quantities }} />
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** A series is picked out while the pointer or the focus rests on its name. */
const picking = (label: string | null, onPick: ReadoutProps['onPick']) => ({
  onPointerEnter: () => onPick(label),
  onPointerLeave: () => onPick(null),
  onFocus: () => onPick(label),
  onBlur: () => onPick(null),
})

interface ValuesProps {
  one: LabelledGroup
  x: number | null
  phase: PhaseName
  quantities: readonly StackedQuantity[]
}

function Values({ one, x, phase, quantities }: ValuesProps) {
  const readings = quantities.map((quantity) => {
    const series = bandSeries([one], quantity.name)[0]
    return x === null || !series ? one.group.metrics[phase]?.[quantity.name] : readingAt(series, x)
  })
  const n = readings[0]?.n
  return (
    <>
      <td role="cell" data-label="n">
        {n ?? NO_VALUE}
      </td>
      {quantities.map((quantity, index) => (
        <td key={quantity.name} role="cell" data-label={`${quantity.title}, ${quantity.unit.split(' ')[0]}`}>
          <Estimate text={formatEstimate(readings[index], quantity.factor)} />
        </td>
      ))}
    </>
  )
}
