import type { PathWindow } from '@/api/types'
import { clockTitle } from '@/charts/clock'
import type { Figure } from '@/charts/figure'
import { captionOf, fileName } from '@/lib/captions'
import { plural } from '@/lib/format'
import type { Span } from './span'
import { changesOf, rowOfChanges, STRIP_PX, stripShapes } from './strip'
import { timeAt } from './words'

/** A path's strip, to be taken away. */
export function stripFigure(name: string, start: string, window: PathWindow, span: Span): Figure {
  const start_s = Date.parse(start) / 1000
  const [from_s, to_s] = [start_s + span.from_us / 1e6, start_s + span.to_us / 1e6]
  const changes = changesOf(window.stays, span)
  const hasGaps = window.stays.some(({ hops }) => hops === 0)
  const below = rowOfChanges(changes, span, 300) ? 'their number' : 'each of them'
  return {
    file: fileName('path', name, 'delay'),
    title: 'One-way delay over time',
    columns: [
      {
        panels: [
          {
            title: 'One-way delay (ms)',
            height: () => STRIP_PX,
            shapes: (width, _height, look) => stripShapes({ window, span, start_s, width, look }),
          },
        ],
      },
    ],
    legend: [],
    xTitle: clockTitle(from_s, to_s),
    caption: captionOf(
      `One-way delay of the path ${name} at ${plural(window.points.length, 'moment')}.`,
      `${plural(changes.length, 'change')} of path; below the delay: ${below}.`,
      hasGaps ? 'Striped: no path.' : undefined,
    ),
    table: {
      heads: ['UTC', 'One-way delay (ms)', 'Hops'],
      rows: window.points.map(({ at_us, delay_ms, hops }) => [timeAt(start, at_us), delay_ms, hops]),
    },
  }
}
