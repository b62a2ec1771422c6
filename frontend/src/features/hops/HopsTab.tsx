import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { API } from '@/api/client'
import type { FlowHops, Run } from '@/api/types'
import { CursorSlider } from '@/charts/CursorSlider'
import { CurveChart, cursorStep } from '@/charts/CurveChart'
import { CurveTable } from '@/charts/CurveTable'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { SaveMenu } from '@/charts/SaveMenu'
import { ShareBar } from '@/charts/ShareBar'
import { Swatch } from '@/charts/Swatch'
import { formatBytes, NO_VALUE, plural } from '@/lib/format'
import { Empty } from '@/ui/Empty'
import { FlowChoice } from '@/ui/FlowChoice'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { StackedTable } from '@/ui/StackedTable'
import { changeMarks, hopsFigure, pathCurves, pathFigure, pathMarks } from './figures'
import { changesOf, curvesOf, hopTitle, KINDS, mostOf, nodesText, sentShares, shownOf } from './hops'
import classes from './hops.module.css'
import { useRunHops, useRunLink } from './queries'
import type { HopsSearch, ShownName } from './search'

interface HopsTabProps {
  run: Run
  search: HopsSearch
  onSearch: (change: HopsSearch) => void
}

const NONE = (
  <Empty title="No flow of this run uses relays">Split TCP and INTCP use the relays that a link names. TCP passes them like routers.</Empty>
)

/** What each hop of a flow over relays did: its bytes, and its course. */
export function HopsTab(props: HopsTabProps) {
  if (!props.run.flows.some(({ relays }) => (relays ?? []).length > 0)) return <Panel title="Hops">{NONE}</Panel>
  return <Relayed {...props} />
}

function Relayed({ run, search, onSearch }: HopsTabProps) {
  const query = useRunHops(run.id)
  const emptyCodes = {
    hops_not_found: <Empty title="Not uploaded yet">Hops appear when the traces of relays and receiver are sealed.</Empty>,
    traces_removed: <Empty title="The samples were removed">What hops did is drawn from them.</Empty>,
  }
  return (
    <QueryPanel query={query} emptyCodes={emptyCodes}>
      {({ flows }) => {
        const flow = flows.find((one) => one.flow === search.flow) ?? flows[0]
        return flow ? (
          <Stack gap="lg">
            <FlowChoice
              flows={flows.map((one) => ({ flow: one.flow, cc: one.kind }))}
              flow={flow.flow}
              onFlow={(next) => onSearch({ flow: next })}
            />
            <Bytes run={run} flow={flow} />
            <Courses run={run} flow={flow} shown={search.shown} onShown={(shown) => onSearch({ shown })} />
          </Stack>
        ) : (
          NONE
        )
      }}
    </QueryPanel>
  )
}

const OF_CONTENT = ' Other flows request the same content: the sender’s and relays’ counts cover all these flows.'
const HEADS = ['Hop', 'Sent', 'First time and again', 'Lost packets', 'Sent again', 'Answered from the cache']

/** From the sender to the receiver. */
function Bytes({ run, flow }: { run: Run; flow: FlowHops }) {
  const count = (value: number | null) => (value === null ? NO_VALUE : value.toLocaleString('en-GB'))
  return (
    <Panel
      title="Bytes over each hop"
      description={
        flow.is_summed
          ? 'The relays are sites of an emulated link. Their agent reported sums over all sites only, so single hops are not shown.'
          : `From the sender to the receiver. The second part of a bar was retransmitted on that hop.${flow.is_of_content ? OF_CONTENT : ''}`
      }
      isFlush
    >
      <StackedTable
        label="Bytes over each hop"
        heads={HEADS}
        whole={['First time and again']}
        rows={flow.hops.map((hop) => {
          const shares = sentShares(hop, flow.hops)
          return {
            key: hopTitle(hop),
            cells: [
              <>
                {hopTitle(hop)}
                {nodesText(hop) ? (
                  <Text size="xs" c="dimmed">
                    {nodesText(hop)}
                  </Text>
                ) : null}
              </>,
              formatBytes(hop.totals.sent_bytes),
              shares ? <ShareBar key="bar" shares={shares} /> : NO_VALUE,
              count(hop.totals.lost_packets),
              formatBytes(hop.totals.repaired_bytes),
              formatBytes(hop.totals.hit_bytes),
            ],
          }
        })}
      />
      <Text size="xs" c="dimmed" p="md">
        <a href={`${API}/runs/${run.id}/hops.csv`} download>
          Every step of every hop as CSV
        </a>
      </Text>
    </Panel>
  )
}

interface CoursesProps {
  run: Run
  flow: FlowHops
  shown: ShownName | undefined
  onShown: (shown: ShownName) => void
}

/** Small charts of one scale, one for each hop. */
function Courses({ run, flow, shown, onShown }: CoursesProps) {
  const possible = shownOf(flow)
  const name = shown && possible.includes(shown) ? shown : possible[0]
  if (!name || flow.time_s.length === 0) return null
  const legend = flow.hops.map((hop) => curvesOf(hop, name)).find((curves) => curves.length > 1) ?? []
  const [from, to] = [0, flow.end_s]
  return (
    <Panel title="Each hop over time" description="All charts have one scale. A dashed line marks a change of satellite." isFlush>
      <CursorProvider>
        <Group p="md" gap="md">
          <SegmentedControl
            aria-label="What is drawn"
            size="xs"
            value={name}
            onChange={(value) => onShown(value as ShownName)}
            data={possible.map((value) => ({ value, label: KINDS[value].title }))}
          />
          {legend.map(({ label, style }) => (
            <Text key={label} size="sm" component="span">
              <Swatch style={style} /> {label}
            </Text>
          ))}
          <SaveMenu what="all hops" figure={() => hopsFigure(run, flow, name)} />
        </Group>
        <div className={classes.slider}>
          <CursorSlider from={from} to={to} unit="s" step={cursorStep(from, to)} />
        </div>
        <PathStrip run={run} to={to} />
        <div className={classes.hops}>
          {flow.hops.map((hop, index) => (
            <HopChart key={hopTitle(hop)} {...{ run, flow, name, index }} />
          ))}
        </div>
        <Text size="xs" c="dimmed" ta="center" pb="sm">
          Seconds since the run's zero
        </Text>
      </CursorProvider>
    </Panel>
  )
}

/** The path that all hops are of: its delay and its changes, over the same seconds. */
function PathStrip({ run, to }: { run: Run; to: number }) {
  const path = run.link_log?.path
  const { data: course } = useRunLink(run.id, path != null)
  if (!path || !course || course.time_s.length === 0) return null
  const changes = course.path_changes_s.filter((at) => at < to).length
  return (
    <div className={classes.slider}>
      <Frame
        title="One-way delay of the path"
        unit="ms"
        height={HEIGHT}
        table={() => (
          <CurveTable
            caption="One-way delay of the path, ms"
            xLabel="s"
            x={course.time_s}
            curves={pathCurves(course)}
            factor={1}
            from={0}
            to={to}
          />
        )}
        figure={() => pathFigure(run, course, to)}
      >
        {(width) => (
          <CurveChart
            width={width}
            height={HEIGHT}
            x={course.time_s}
            curves={pathCurves(course)}
            factor={1}
            from={0}
            to={to}
            hasTimeAxis
            isStepped
            isClose
            marks={pathMarks(course)}
          />
        )}
      </Frame>
      <Text size="xs" c="dimmed" px="sm">
        {path.name}, without queues; {plural(changes, 'change')} of path, each a dashed line.
      </Text>
    </div>
  )
}

const HEIGHT = 120

function HopChart({ run, flow, name, index }: { run: Run; flow: FlowHops; name: ShownName; index: number }) {
  const hop = flow.hops[index]
  if (!hop) return null
  const { unit, factor } = KINDS[name]
  const [from, to] = [0, flow.end_s]
  const curves = curvesOf(hop, name)
  return (
    <Frame
      title={hopTitle(hop)}
      unit={unit}
      height={HEIGHT}
      table={() => <CurveTable caption={`${hopTitle(hop)}, ${unit}`} xLabel="s" x={flow.time_s} {...{ curves, factor, from, to }} />}
      figure={() => hopsFigure(run, flow, name, index)}
    >
      {(width) =>
        curves.length === 0 ? (
          <Text size="xs" c="dimmed">
            Not recorded on this hop
          </Text>
        ) : (
          <CurveChart
            {...{ width, curves, factor, from, to }}
            x={flow.time_s}
            height={HEIGHT}
            hasTimeAxis
            isStepped
            atLeast={mostOf(flow, name)}
            marks={changeMarks(changesOf(hop, flow.time_s))}
          />
        )
      }
    </Frame>
  )
}
