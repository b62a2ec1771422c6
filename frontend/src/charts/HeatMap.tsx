import { NO_VALUE } from '@/lib/format'
import classes from './charts.module.css'
import { heatStep } from './heat'

export interface HeatCell {
  value: number
  /** The value as it is printed in the cell. */
  text: string
  /** More on the cell, for a pointer that rests on it. */
  detail: string
}

interface HeatMapProps {
  title: string
  xName: string
  xs: readonly (number | string)[]
  /** Null: one row. */
  yName: string | null
  ys: readonly (number | string)[]
  /** By row, then by column; null where there is no value. */
  cells: readonly (readonly (HeatCell | null)[])[]
  /** Ends of the colour scale. */
  low: number
  high: number
  /** Colours by the distance from 0, values below 0 in the other hue. */
  isSigned?: boolean
}

/** A table whose cells are coloured by their value: what it says stands in it, for eyes and for screen readers alike. */
export function HeatMap({ title, xName, xs, yName, ys, cells, low, high, isSigned = false }: HeatMapProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <div role="group" aria-label={title} tabIndex={0} className={classes.heat}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {yName ? (
              <th scope="col" rowSpan={2} className={classes.heatDown}>
                {breakable(yName)} ↓
              </th>
            ) : (
              <td rowSpan={2} />
            )}
            <th scope="colgroup" colSpan={xs.length} className={classes.heatAcross}>
              {breakable(xName)} →
            </th>
          </tr>
          <tr>
            {xs.map((x) => (
              <th key={x} scope="col">
                {x}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map((row, index) => (
            <tr key={ys[index] ?? 'one'}>
              {yName ? <th scope="row">{ys[index]}</th> : <td />}
              {row.map((cell, column) => (
                <Cell key={xs[column]} {...{ cell, low, high, isSigned }} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A parameter's name that may break after its underscores. */
const breakable = (name: string) => name.replaceAll('_', '_\u200b')

function Cell({ cell, low, high, isSigned }: { cell: HeatCell | null; low: number; high: number; isSigned: boolean }) {
  if (!cell) return <td>{NO_VALUE}</td>
  const hue = isSigned && cell.value < 0 ? 'warm-' : ''
  const step = `${hue}${heatStep(isSigned ? Math.abs(cell.value) : cell.value, low, high)}`
  return (
    <td title={cell.detail} style={{ background: `var(--heat-${step})`, color: `var(--heat-text-${step})` }}>
      {cell.text}
    </td>
  )
}
