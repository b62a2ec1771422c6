import type { Sweep } from '@/api/types'
import type { Figure } from '@/charts/figure'
import type { HeatGrid } from '@/charts/gridShapes'
import { heatPanel, heatTable } from '@/charts/panels'
import { captionOf, fileName } from '@/lib/captions'
import { versionName } from '../detectors'
import { type Axes, heatCell, MEASURES, type Measure, planeOf, scaleOf } from './layout'

/** One measure of a sweep over the chosen plane. */
export function gridOf(sweep: Sweep, axes: Axes, measure: Measure, title: string): HeatGrid {
  const cells = planeOf(sweep, axes).map((row) => row.map((cell) => heatCell(cell, measure)))
  const [low, high] = scaleOf(measure, cells)
  const [xs, ys] = [sweep.grid[axes.x] ?? [], axes.y ? (sweep.grid[axes.y] ?? []) : []]
  return { title, xName: axes.x, xs, yName: axes.y, ys, cells, low, high }
}

/** The maps of a sweep over the chosen plane. */
export function mapsFigure(campaign: string, sweep: Sweep, axes: Axes): Figure {
  const grids = MEASURES.map(({ name, title }) => gridOf(sweep, axes, name, title))
  const held = Object.entries(axes.held).map(([name, value]) => `${name} ${value}`)
  return {
    file: fileName(campaign, 'sweep', sweep.detector, sweep.version),
    title: `Maps of ${versionName(sweep.detector, sweep.version)}`,
    columns: grids.map((grid) => ({ panels: [heatPanel(grid)] })),
    legend: [],
    caption: captionOf(
      `${versionName(sweep.detector, sweep.version)} replayed with other parameters over the campaign's traces: ${axes.x} across${axes.y ? `, ${axes.y} down` : ''}${held.length > 0 ? `, held: ${held.join(', ')}` : ''}.`,
      'Success: exits between capacity and first loss. Early: before capacity. Late: at or after the first loss. Headroom: median time from a good exit to the loss.',
      `n = ${sweep.total} traces.`,
      `Campaign “${campaign}”.`,
    ),
    table: heatTable(grids.map((grid) => ({ grid, factor: 1 }))),
  }
}
