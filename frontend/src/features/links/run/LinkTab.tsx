import { Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { API } from '@/api/client'
import type { LinkCourse, LinkLog, Run } from '@/api/types'
import { CursorSlider } from '@/charts/CursorSlider'
import { CurveChart, cursorStep } from '@/charts/CurveChart'
import { CurveTable } from '@/charts/CurveTable'
import { CursorProvider } from '@/charts/cursor'
import { EventStrip, eventStripHeight } from '@/charts/EventStrip'
import { Frame } from '@/charts/Frame'
import type { Figure } from '@/charts/figure'
import { SaveMenu } from '@/charts/SaveMenu'
import { Swatch } from '@/charts/Swatch'
import { LINKED, phaseTitle } from '@/lib/quantities'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { StackedTable } from '@/ui/StackedTable'
import { useRunLink } from '../queries'
import { eventRows, linkedText, lossRows, type Way, type WayName } from './course'
import { type LinkPlot, linkFigure } from './figures'
import classes from './link.module.css'

const NONE = (
  <Empty title="No log of the link">
    Emulated links that restart for each run keep one: those of <code>make demo</code>, and any whose receiver's agent names the link's
    control socket.
  </Empty>
)

/** What an emulated link did during the run: its queue, its rate, what it lost and why. */
export function LinkTab({ run }: { run: Run }) {
  return run.link_log ? <Log run={run} log={run.link_log} /> : <Panel title="Link">{NONE}</Panel>
}

function Log({ run, log }: { run: Run; log: LinkLog }) {
  const course = useRunLink(run.id)
  return (
    <Stack gap="lg">
      <Panel title="Link" description="The emulated link’s own log." isFlush>
        <QueryPanel
          query={course}
          emptyCodes={{ link_log_not_found: <Empty title="Not uploaded yet">It appears when the log is sealed.</Empty> }}
        >
          {(data) => <Charts run={run} course={data} />}
        </QueryPanel>
      </Panel>
      {course.data ? <Phases course={course.data} /> : null}
      <Panel title="Lost packets" description="Counted by the link, retransmissions included." isFlush>
        <Losses log={log} />
      </Panel>
      <Facts run={run} log={log} />
    </Stack>
  )
}

/** Queueing, utilisation and losses by cause in each phase. */
function Phases({ course }: { course: LinkCourse }) {
  const phases = Object.keys(course.phases)
  if (phases.length === 0) {
    return (
      <Panel title="By phase">
        <Empty title="Not judged yet">
          An older analysis made this run's numbers: `downlink campaigns reanalyse CAMPAIGN` recomputes them from its traces.
        </Empty>
      </Panel>
    )
  }
  return (
    <Panel title="By phase" description="On the way to the receiver. Congestion: a full queue, and its random drop." isFlush>
      <ScrollTable label="The link by phase" heads={['Quantity', ...phases.map(phaseTitle)]} data-wraps>
        {LINKED.map((quantity) => (
          <Table.Tr key={quantity.name}>
            <Table.Th scope="row">
              {quantity.title}, {quantity.unit}
            </Table.Th>
            {phases.map((phase) => (
              <Table.Td key={phase}>{linkedText(course.phases[phase]?.[quantity.name], quantity)}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </ScrollTable>
    </Panel>
  )
}

function Facts({ run, log }: { run: Run; log: LinkLog }) {
  const late = ((100 * log.late_samples) / Math.max(1, log.samples)).toLocaleString('en-GB', { maximumFractionDigits: 2 })
  return (
    <Text size="sm" c="dimmed">
      Profile {log.profile}, restarted at the run's zero with seed {log.seed}, which all runs of this cycle share, {log.phase_us / 1e6} s
      into its course{log.path ? ` along the path ${log.path.name}` : ''}. In {late} % of the moments a packet left more than{' '}
      {log.late_limit_us / 1e3} ms late, at worst {(log.lateness_max_us / 1e3).toLocaleString('en-GB', { maximumFractionDigits: 1 })} ms.{' '}
      <a href={`${API}/runs/${run.id}/traces/0/link.csv`} download>
        All rows as CSV
      </a>
    </Text>
  )
}

function Charts({ run, course }: { run: Run; course: LinkCourse }) {
  const [name, setName] = useState<WayName>('down')
  const way = course.ways[name]
  const [from, to] = [0, course.end_s]
  if (!(to > 0)) return <Empty title="The log is empty" />
  return (
    <CursorProvider>
      <Group p="md" gap="md">
        <SegmentedControl
          aria-label="Way of the link"
          size="xs"
          value={name}
          onChange={(value) => setName(value as WayName)}
          data={[
            { value: 'down', label: 'To the receiver' },
            { value: 'up', label: 'Back' },
          ]}
        />
        {RATES.map(({ label, style }) => (
          <Text key={label} size="sm" component="span">
            <Swatch style={style} /> {label}
          </Text>
        ))}
        <SaveMenu what="the whole stack" figure={() => linkFigure(run, course, name, plots(way), true)} />
      </Group>
      <div className={classes.stack}>
        <CursorSlider from={from} to={to} unit="s" step={cursorStep(from, to)} />
        {plots(way).map(({ title, unit, factor, curves }) => (
          <Frame
            key={title}
            title={title}
            unit={unit}
            height={130}
            table={() => <CurveTable caption={`${title}, ${unit}`} xLabel="s" x={course.time_s} {...{ curves, factor, from, to }} />}
            figure={() => linkFigure(run, course, name, [{ title, unit, factor, curves }], false)}
          >
            {(width) => (
              <CurveChart {...{ width, curves, factor, from, to }} x={course.time_s} height={130} hasTimeAxis={false} isStepped />
            )}
          </Frame>
        ))}
        <Events course={course} way={way} figure={() => linkFigure(run, course, name, [], true)} />
        <Text size="xs" c="dimmed" ta="center" pb="sm">
          Seconds since the run's zero
        </Text>
      </div>
    </CursorProvider>
  )
}

function Events({ course, way, figure }: { course: LinkCourse; way: Way; figure: () => Figure }) {
  const rows = eventRows(way)
  const [from, to] = [0, course.end_s]
  if (rows.length === 0) {
    return (
      <Text size="sm" p="sm">
        Nothing was lost on this way, and nothing interrupted it.
      </Text>
    )
  }
  return (
    <Frame
      title="Losses, outages and gaps"
      unit=""
      height={eventStripHeight(rows.length)}
      table={() => (
        <CurveTable
          caption="Bytes lost, and seconds of outages and gaps, in each step"
          xLabel="s"
          x={course.time_s}
          curves={rows.map(({ id, label, amounts }, style) => ({ id, label, style, y: amounts }))}
          factor={1}
          {...{ from, to }}
        />
      )}
      figure={figure}
    >
      {(width) => <EventStrip {...{ width, rows, from, to }} x={course.time_s} end={course.end_s} />}
    </Frame>
  )
}

const RATES = [
  { label: 'Rate of the hop', style: 0 },
  { label: 'Delivered', style: 1 },
] as const

function plots(way: Way): LinkPlot[] {
  const [rate, delivered] = RATES
  const most = Math.max(0, ...way.waiting_bytes)
  const queue = most >= 1e6 ? { unit: 'MB', factor: 1e-6 } : { unit: 'kB', factor: 1e-3 }
  return [
    { title: 'Queue', ...queue, curves: [{ id: 'queue', label: 'Queue', style: 0, y: way.waiting_bytes }] },
    {
      title: 'Rate',
      unit: 'Mb/s',
      factor: 1e-6,
      curves: [
        { id: 'rate', ...rate, y: way.rate_bps },
        { id: 'delivered', ...delivered, y: way.delivered_bps },
      ],
    },
    { title: 'Delay behind the hop', unit: 'ms', factor: 1, curves: [{ id: 'delay', label: 'Delay', style: 0, y: way.delay_ms }] },
  ]
}

function Losses({ log }: { log: LinkLog }) {
  const rows = lossRows(log.lost)
  if (rows.length === 0) return <Empty title="No packet was lost" />
  return (
    <StackedTable
      label="Lost packets"
      heads={['Flow', 'Way', 'By congestion', 'Otherwise', 'Causes']}
      rows={rows.map(({ flow, way, congestion, other, causes }) => ({
        key: `${flow} ${way}`,
        cells: [
          flow ?? 'none',
          way === 'down' ? 'to the receiver' : 'back',
          congestion.toLocaleString('en-GB'),
          other.toLocaleString('en-GB'),
          causes,
        ],
      }))}
    />
  )
}
