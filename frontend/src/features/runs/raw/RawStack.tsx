import { Button, Group, Kbd, Text } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useMemo } from 'react'
import type { Run, SampledColumn, SampledField, Samples } from '@/api/types'
import { CursorSlider } from '@/charts/CursorSlider'
import { useCursor, useCursorStore } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { MarkStrip } from '@/charts/MarkStrip'
import type { Mark } from '@/charts/marks'
import { Empty } from '@/ui/Empty'
import { countText, drawnUnit, keyText, nearest, type PanelKey, type PointName, sampleText, styleOf } from './fields'
import { flagMarks, momentsOf, shadedStretches } from './flags'
import { Moments } from './Moments'
import { type Traces, useMoments } from './queries'
import { RawChart } from './RawChart'
import classes from './raw.module.css'
import { panned, type Span, secondsText, shownSpan, zoomed } from './span'
import { SampleTable } from './TallTable'

interface RawStackProps {
  run: Run
  flow: number
  keys: PanelKey[]
  traces: Traces
  asked: Partial<Span>
  isFetching: boolean
  /** To what `zoom` makes of the stretch that the address asks for then: keys come faster than the page is drawn. undefined: the whole run. */
  onZoom: (zoom: (asked: Partial<Span>) => Span | undefined) => void
}

const CHART_HEIGHT = 112
const TIME_AXIS_MORE = 20
const READING_HEIGHT = 18

/** The chosen fields under each other, over one stretch of time. */
export function RawStack({ run, flow, keys, traces, asked, isFetching, onZoom }: RawStackProps) {
  const moments = useMoments(run.id).data
  const shownMoments = useMemo(() => momentsOf(moments?.moments ?? [], flow), [moments, flow])
  const whole = useMemo(() => wholeOf(traces), [traces])
  const { from_s, to_s } = shownSpan(asked, whole ?? { from_s: 0, to_s: 1 })
  const span = useMemo(() => ({ from_s, to_s }), [from_s, to_s])
  const marks = useMemo(() => flagMarks(shownMoments, span), [shownMoments, span])
  const shaded = useMemo(() => shadedStretches(shownMoments), [shownMoments])
  const panels = keys.flatMap((key) => panelOf(key, traces))
  if (keys.length === 0) return <Empty title="No field is chosen">Choose some above, as cwnd_segments of the sender.</Empty>
  if (!whole) return <Empty title="Loading samples">They come from the sealed trace.</Empty>
  return (
    <Steered {...{ span, whole, onZoom, isFetching }}>
      <div className={classes.stack}>
        <MarkStrip marks={marks} from={from_s} to={to_s} />
        <CursorSlider from={from_s} to={to_s} unit="s" step={cursorStep(span)} />
        {panels.map((panel, index) => (
          <RawPanel key={panel.id} {...{ ...panel, span, marks, shaded, onZoom }} isLast={index === panels.length - 1} />
        ))}
        <Text size="xs" c="dimmed" ta="center" pb="xs">
          Seconds since the run's zero
        </Text>
      </div>
      <Missing keys={keys} panels={panels} traces={traces} />
      <Moments moments={shownMoments} leftOut={moments?.left_out ?? 0} whole={whole} onZoom={(chosen) => onZoom(() => chosen)} />
    </Steered>
  )
}

/** From the first sample of any end to the last one. */
function wholeOf(traces: Traces): Span | null {
  const found = Object.values(traces).flatMap((trace) => (trace ? [trace] : []))
  if (found.length === 0) return null
  const [first, last] = [Math.min(...found.map(({ first_us }) => first_us)), Math.max(...found.map(({ last_us }) => last_us))]
  return { from_s: first / 1e6, to_s: Math.max(last, first + 1) / 1e6 }
}

/** A power of ten, about a thousandth of the span; a microsecond at least. */
const cursorStep = ({ from_s, to_s }: Span) => 10 ** Math.max(-6, Math.floor(Math.log10((to_s - from_s) / 500)))

interface Shown {
  id: string
  field: SampledField
  column: SampledColumn
  samples: Samples
}

function panelOf(key: PanelKey, traces: Traces): Shown[] {
  const samples = traces[key.point]
  const field = samples?.fields.find(({ name }) => name === key.name)
  const column = samples?.columns[key.name]
  return samples && field && column ? [{ id: keyText(key), field, column, samples }] : []
}

interface SteeredProps {
  span: Span
  whole: Span
  onZoom: RawStackProps['onZoom']
  isFetching: boolean
  children: ReactNode
}

/** Zoom and pan by buttons and by keys, which work wherever the focus is among the charts. */
function Steered({ span, whole, onZoom, isFetching, children }: SteeredProps) {
  const cursor = useCursorStore()
  const isWhole = span.from_s <= whole.from_s && span.to_s >= whole.to_s
  const from = (step: (shown: Span) => Span) => () => onZoom((asked) => step(shownSpan(asked, whole)))
  const steps = {
    in: from((shown) => zoomed(shown, whole, 1 / 4, cursor.get())),
    out: from((shown) => zoomed(shown, whole, 4)),
    left: from((shown) => panned(shown, whole, -1 / 2)),
    right: from((shown) => panned(shown, whole, 1 / 2)),
    whole: () => onZoom(() => undefined),
  }
  const press = (event: KeyboardEvent) => {
    const step = stepOf(event)
    if (!step || (isWhole && step !== 'in')) return
    event.preventDefault()
    steps[step]()
  }
  const sideways = (label: string, key: string, step: keyof typeof steps, isOff = false) => (
    <Button key={step} size="compact-xs" variant="default" disabled={isOff} aria-keyshortcuts={key} onClick={steps[step]}>
      {label}
    </Button>
  )
  return (
    <div role="group" aria-label="Charts of samples" onKeyDown={press}>
      <Group gap="xs" px="md" pb={6}>
        {sideways('Zoom in', '+', 'in')}
        {sideways('Zoom out', '-', 'out', isWhole)}
        {sideways('← Earlier', 'Shift+ArrowLeft', 'left', isWhole)}
        {sideways('Later →', 'Shift+ArrowRight', 'right', isWhole)}
        {sideways('Whole run', '0', 'whole', isWhole)}
        <Text size="sm" role="status" className={classes.span}>
          {secondsText(span.from_s, span)} to {secondsText(span.to_s, span)} s{isFetching ? ', loading…' : ''}
        </Text>
        <Text size="xs" c="dimmed" visibleFrom="md">
          Keys: <Kbd size="xs">+</Kbd> <Kbd size="xs">−</Kbd> <Kbd size="xs">0</Kbd> <Kbd size="xs">Shift ←</Kbd>{' '}
          <Kbd size="xs">Shift →</Kbd>
        </Text>
      </Group>
      {children}
    </div>
  )
}

function stepOf({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent) {
  if (ctrlKey || metaKey || altKey) return null
  if (key === '+' || key === '=') return 'in'
  if (key === '-' || key === '−') return 'out'
  if (key === '0') return 'whole'
  if (shiftKey && key === 'ArrowLeft') return 'left'
  return shiftKey && key === 'ArrowRight' ? 'right' : null
}

interface RawPanelProps extends Shown {
  span: Span
  marks: Mark[]
  shaded: Span[]
  isLast: boolean
  onZoom: RawStackProps['onZoom']
}

function RawPanel({ field, column, samples, span, marks, shaded, isLast, onZoom }: RawPanelProps) {
  const { unit, factor } = drawnUnit(field)
  const height = CHART_HEIGHT + (isLast ? TIME_AXIS_MORE : 0)
  const point = samples.point as PointName
  return (
    <Frame
      title={`${point} ${field.name}`}
      unit={unit}
      note={countText(samples, column)}
      height={height + READING_HEIGHT}
      table={() => <SampleTable {...{ field, column, point }} />}
    >
      {(width) => (
        <>
          <Reading field={field} column={column} />
          <RawChart
            {...{ column, factor, span, marks, shaded, width, height }}
            style={styleOf(point)}
            hasTimeAxis={isLast}
            onZoom={(dragged) => onZoom(() => dragged)}
          />
        </>
      )}
    </Frame>
  )
}

/** The sample nearest to the cursor, in words; what the field is while there is none. */
function Reading({ field, column }: { field: SampledField; column: SampledColumn }) {
  const x = useCursor()
  const place = x === null ? null : nearest(column.time_us, x * 1e6)
  return (
    <Text size="xs" className={classes.reading} c={place === null ? 'dimmed' : undefined} style={{ height: READING_HEIGHT }}>
      {place === null ? field.description : sampleText(column, place, field)}
    </Text>
  )
}

/** Fields that were asked for and that this run does not have. */
function Missing({ keys, panels, traces }: { keys: PanelKey[]; panels: Shown[]; traces: Traces }) {
  const missing = keys.filter((key) => traces[key.point] && !panels.some((panel) => panel.id === keyText(key)))
  if (missing.length === 0) return null
  return (
    <Text size="sm" c="dimmed" px="md" pb="sm">
      Not in this run: {missing.map(keyText).join(', ')}. Its kernel did not report it, or its samples have no row per ACK.
    </Text>
  )
}
