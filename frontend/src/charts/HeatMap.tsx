import { NO_VALUE } from '@/lib/format'
import classes from './charts.module.css'
import type { HeatCell, HeatGrid } from './gridShapes'
import { heatPaint } from './heat'

/** A table whose cells are coloured by their value: what it says stands in it, for eyes and for screen readers alike. */
export function HeatMap({ title, xName, xs, yName, ys, cells, low, high, isSigned = false }: HeatGrid) {
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
  const { fill, ink } = heatPaint(cell.value, { low, high, isSigned })
  return (
    <td title={cell.detail} style={{ background: `var(--${fill})`, color: `var(--${ink})` }}>
      {cell.text}
    </td>
  )
}
