import { Table, Text } from '@mantine/core'
import { type PointerEvent, useMemo } from 'react'
import type { PathWindow } from '@/api/types'
import { clockTitle, secondsOf } from '@/charts/clock'
import { Drawing } from '@/charts/Drawing'
import { Frame } from '@/charts/Frame'
import { pixelOf, xUnderPointer } from '@/charts/plot'
import { formatNumber, plural } from '@/lib/format'
import { formatDuration } from '@/lib/time'
import { ScrollTable } from '@/ui/ScrollTable'
import classes from './paths.module.css'
import type { Span } from './span'
import { changesOf, delayPlot, rowOfChanges, STRIP_PX, stripShapes } from './strip'
import { delayText, timeAt } from './words'

/** A table of all points would be long: each tenth is enough to read. */
const ROWS = 60

interface DelayStripProps {
  name: string
  window: PathWindow
  span: Span
  start: string
  at_us: number
  step_us: number
  onPick: (at_us: number) => void
}

/** One-way delay over time with its changes of path. A click puts the moment there; by keyboard the slider above does. */
export function DelayStrip({ name, window, span, start, at_us, step_us, onPick }: DelayStripProps) {
  const start_s = secondsOf(start)
  return (
    <Frame
      title="One-way delay"
      unit="ms"
      height={STRIP_PX}
      table={() => <Numbers window={window} start={start} />}
      figure={async () => (await import('./figures')).stripFigure(name, start, window, span)}
    >
      {(width) => <Strip {...{ window, span, start_s, width, at_us, step_us, onPick }} />}
    </Frame>
  )
}

type StripProps = Omit<DelayStripProps, 'start' | 'name'> & { start_s: number; width: number }

function Strip({ window, span, start_s, width, at_us, step_us, onPick }: StripProps) {
  const shapes = useMemo(() => stripShapes({ window, span, start_s, width }), [window, span, start_s, width])
  const plot = delayPlot(width)
  const pick = (event: PointerEvent<HTMLDivElement>) => {
    if (event.buttons !== 1) return
    const place = event.clientX - event.currentTarget.getBoundingClientRect().left
    const found = xUnderPointer(place, plot, span.from_us, span.to_us, step_us)
    if (found !== null) onPick(found)
  }
  const left = pixelOf(at_us, plot, span.from_us, span.to_us)
  return (
    <div className={classes.strip} onPointerDown={pick} onPointerMove={pick}>
      <Drawing width={width} height={STRIP_PX} shapes={shapes} />
      <svg className={classes.moment} aria-hidden="true">
        <line x1={left} x2={left} y1={plot.top - 4} y2={plot.top + plot.height + 18} />
      </svg>
    </div>
  )
}

/** What the strip's signs mean, with what there is of each. */
export function StripLegend({ window, span, start }: Pick<DelayStripProps, 'window' | 'span' | 'start'>) {
  const changes = changesOf(window.stays, span)
  const counted = rowOfChanges(changes, span, WIDE_PX)
  const away_us = window.stays
    .filter(({ hops }) => hops === 0)
    .reduce((sum, stay) => sum + Math.min(stay.to_us, span.to_us) - Math.max(stay.from_us, span.from_us), 0)
  const from_s = secondsOf(start) + span.from_us / 1e6
  return (
    <ul className={classes.legend}>
      <li>
        <span className={classes.sign} data-is="change" aria-hidden="true" />
        {plural(changes.length, 'change')} of path
        {counted ? ': the taller a bar, the more of them' : ''}
      </li>
      <li>
        <span className={classes.sign} data-is="away" aria-hidden="true" />
        no path: {formatDuration(away_us / 1e6)}
      </li>
      <Text component="li" size="sm" c="dimmed">
        {clockTitle(from_s, from_s + (span.to_us - span.from_us) / 1e6)}
      </Text>
    </ul>
  )
}

/** A strip's plot on a wide screen, for words that need no measured width. */
const WIDE_PX = 1_100

function Numbers({ window, start }: { window: PathWindow; start: string }) {
  const every = Math.max(1, Math.ceil(window.points.length / ROWS))
  return (
    <ScrollTable label="One-way delay over time" heads={['UTC', 'One-way delay', 'Hops']}>
      {window.points
        .filter((_, index) => index % every === 0)
        .map((point) => (
          <Table.Tr key={point.at_us}>
            <Table.Th scope="row" fw={400}>
              {timeAt(start, point.at_us)}
            </Table.Th>
            <Table.Td>{delayText(point.delay_ms)}</Table.Td>
            <Table.Td>{formatNumber(point.hops, 0)}</Table.Td>
          </Table.Tr>
        ))}
    </ScrollTable>
  )
}
