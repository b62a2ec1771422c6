import { Button, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { PathWindow, SatellitePath } from '@/api/types'
import { plural } from '@/lib/format'
import { formatDuration, formatMoment } from '@/lib/time'
import { Empty } from '@/ui/Empty'
import { Facts } from '@/ui/Facts'
import { LazyPart } from '@/ui/LazyPart'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { Loading, QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { DeletePath, DownloadPath } from './actions'
import { DelayStrip, StripLegend } from './DelayStrip'
import { Making } from './Making'
import classes from './paths.module.css'
import { useMoment, usePath, useReadyPaths, useStrip } from './queries'
import { SummaryPanel } from './SummaryPanel'
import { momentOf, SPANS, searchFor, spanOf, stepOf } from './span'
import { delayText, headerOf, heldAt, routeText, timeAt, whatOf } from './words'

const route = getRouteApi('/shell/paths/$pathId')
const loadMap = () => import('./WorldMap').then((part) => part.default)
/** Moments are asked for when the slider rests. */
const REST_MS = 150
/** Ends nearer to each other than this many degrees are a spot on a map of the world. */
const NEAR_DEG = 30

/** One path: while it is made how far it is, then the map, the moment, the strip and what it was made with. */
export function PathPage() {
  const { pathId } = route.useParams()
  const navigate = route.useNavigate()
  const path = usePath(pathId)
  const ready = useReadyPaths()
  const trail = <Link to="/paths">Paths</Link>
  const { data } = path
  if (!data) {
    return (
      <>
        <PageHeader title="Path" trail={trail} />
        <Panel>
          <QueryPanel query={path}>{() => null}</QueryPanel>
        </Panel>
      </>
    )
  }
  const what = whatOf(ready.data, data)
  return (
    <>
      <PageHeader
        title={data.ready}
        trail={trail}
        badges={<StateBadge state={data.state} />}
        description={`${what ? `${what} · ` : ''}${formatDuration(data.duration_us / 1e6)} · asked for ${formatMoment(data.created_at)}`}
        actions={
          <>
            <DownloadPath path={data} />
            <DeletePath path={data} onDeleted={() => void navigate({ to: '/paths' })} />
          </>
        }
      />
      {data.state === 'ready' ? <Shown path={data} /> : <NotYet path={data} />}
    </>
  )
}

function NotYet({ path }: { path: SatellitePath }) {
  if (path.state === 'failed') {
    return (
      <Panel>
        <Empty title="This path could not be made">
          {path.reason ?? 'The worker’s log says why.'} Delete it and make it again, or make a shorter one.
        </Empty>
      </Panel>
    )
  }
  return (
    <Panel title="Being made" description="24 hours take a minute or two; paths are computed one at a time. The map appears by itself.">
      <Making path={path} />
    </Panel>
  )
}

function Shown({ path }: { path: SatellitePath }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { id, duration_us } = path
  const span = spanOf(search, duration_us)
  const asked_us = momentOf(search, span, duration_us)
  const [dragged_us, setDragged] = useState<number | null>(null)
  const moment = useMoment(id, asked_us, duration_us)
  const strip = useStrip(id, span)
  const go = (next: typeof search) => navigate({ search: next, replace: true, resetScroll: false })
  const rest = useDebouncedCallback(async (at_us: number) => {
    await go({ ...search, at: at_us / 1e6 })
    setDragged((now) => (now === at_us ? null : now))
  }, REST_MS)
  const put = (at_us: number) => {
    setDragged(at_us)
    rest(at_us)
  }
  const at_us = dragged_us ?? asked_us
  const { start } = headerOf(path)
  const controls = { path, span, at_us, go }
  return (
    <Stack gap="lg">
      <MapPanel path={path} moment={moment.data} />
      <Panel title="Delay over time" description="Move the slider, or click into the strip: map and numbers follow." isFlush>
        <Choices {...controls} />
        <Reading path={path} at_us={at_us} moment={moment.data} isOld={moment.isPlaceholderData || dragged_us !== null} onGo={put} />
        {moment.error ? <ProblemAlert error={moment.error} /> : null}
        <div className={classes.slider}>
          <input
            type="range"
            min={span.from_us}
            max={span.to_us}
            step={stepOf(span)}
            value={at_us}
            aria-label="Moment"
            aria-valuetext={`${timeAt(start, at_us)}${momentText(moment.data)}`}
            onChange={(event) => put(Number(event.currentTarget.value))}
          />
        </div>
        <QueryPanel query={strip} skeletonRows={8}>
          {(window) => (
            <>
              <DelayStrip {...{ window, start, at_us }} name={path.ready} span={window} step_us={stepOf(span)} onPick={put} />
              <StripLegend {...{ window, start }} span={window} />
            </>
          )}
        </QueryPanel>
      </Panel>
      <SummaryPanel path={path} />
    </Stack>
  )
}

function momentText(moment: PathWindow | undefined): string {
  if (!moment) return ''
  const { delay_ms, hops } = heldAt(moment)
  return delay_ms === null ? ', no path' : `, ${delayText(delay_ms)}, ${plural(hops, 'hop')}`
}

/** The path at the moment on a map of the world, or of where its ends are. */
function MapPanel({ path, moment }: { path: SatellitePath; moment: PathWindow | undefined }) {
  const { stations } = headerOf(path)
  const [first, last] = [stations[0], stations.at(-1)]
  const isShort =
    first !== undefined &&
    last !== undefined &&
    Math.hypot(first.latitude_deg - last.latitude_deg, first.longitude_deg - last.longitude_deg) < NEAR_DEG
  const [view, setView] = useState(isShort ? 'near' : 'world')
  return (
    <Panel
      title="Map"
      description="Satellites are above the places where they are drawn; lines are great circles."
      isFlush
      actions={
        <SegmentedControl
          aria-label="Part of the map"
          size="xs"
          value={view}
          onChange={setView}
          data={[
            { value: 'world', label: 'World' },
            { value: 'near', label: 'Around the path' },
          ]}
        />
      }
    >
      <LazyPart
        load={loadMap}
        props={{ stations, places: moment?.places ?? [], isNear: view === 'near' }}
        waiting={
          <div className={classes.mapRoom}>
            <Loading rows={8} />
          </div>
        }
      />
      <MapLegend hasIsl={headerOf(path).isl !== 'none'} />
    </Panel>
  )
}

function MapLegend({ hasIsl }: { hasIsl: boolean }) {
  return (
    <ul className={classes.legend}>
      <li>
        <span className={classes.sign} data-is="station" aria-hidden="true" />
        station
      </li>
      <li>
        <span className={classes.sign} data-is="satellite" aria-hidden="true" />
        satellite of the path
      </li>
      <li>
        <span className={classes.sign} data-is="ground" aria-hidden="true" />
        hop with the ground
      </li>
      {hasIsl ? (
        <li>
          <span className={classes.sign} data-is="space" aria-hidden="true" />
          hop between satellites
        </li>
      ) : null}
    </ul>
  )
}

type Go = (next: { at?: number | undefined; from?: number | undefined; span?: number | undefined }) => unknown

interface ControlProps {
  path: SatellitePath
  span: { from_us: number; to_us: number }
  at_us: number
  go: Go
}

const WHOLE = 'whole'

/** How much of the path the strip shows, and the parts before and after it. */
function Choices({ path, span, at_us, go }: ControlProps) {
  const { duration_us } = path
  const length_s = (span.to_us - span.from_us) / 1e6
  const isWhole = length_s * 1e6 === duration_us
  const lengths = new Set([...SPANS.filter((each) => each * 1e6 < duration_us), ...(isWhole ? [] : [length_s])])
  const data = [
    { value: WHOLE, label: `Whole path, ${formatDuration(duration_us / 1e6)}` },
    ...[...lengths].sort((a, b) => b - a).map((each) => ({ value: String(each), label: formatDuration(each) })),
  ]
  const shift = (by_s: number) => {
    const from_us = Math.max(0, Math.min(duration_us - length_s * 1e6, span.from_us + by_s * 1e6))
    const moved_us = from_us - span.from_us
    void go({ from: from_us / 1e6, span: length_s, at: (at_us + moved_us) / 1e6 })
  }
  if (data.length === 1) return null
  return (
    <Group gap="sm" align="end" px="md">
      <Select
        label="Shown"
        w={190}
        data={data}
        value={isWhole ? WHOLE : String(length_s)}
        allowDeselect={false}
        onChange={(next) => void go(searchFor(at_us, next === WHOLE ? null : Number(next), duration_us))}
      />
      {isWhole ? null : (
        <Group gap="xs">
          <Button variant="default" disabled={span.from_us <= 0} onClick={() => shift(-length_s)}>
            ← Earlier
          </Button>
          <Button variant="default" disabled={span.to_us >= duration_us} onClick={() => shift(length_s)}>
            Later →
          </Button>
        </Group>
      )}
    </Group>
  )
}

interface ReadingProps {
  path: SatellitePath
  at_us: number
  moment: PathWindow | undefined
  /** The numbers are of the moment before. */
  isOld: boolean
  onGo: (at_us: number) => void
}

/** What holds at the moment, in words, and the way to the paths beside it. */
function Reading({ path, at_us, moment, isOld, onGo }: ReadingProps) {
  if (!moment) return <Loading rows={2} />
  const { delay_ms, hops, stay } = heldAt(moment)
  const { start } = headerOf(path)
  return (
    <div className={classes.reading} data-old={isOld || undefined}>
      <Facts
        items={[
          ['Time', timeAt(start, at_us)],
          ['One-way delay', delayText(delay_ms)],
          ['Hops', hops === 0 ? 'none' : String(hops)],
          ['This path holds for', stay ? formatDuration((stay.to_us - stay.from_us) / 1e6) : ''],
        ]}
      />
      <Text size="sm" mt="xs" className={classes.route}>
        {moment.places.length > 0 ? routeText(moment.places) : 'No satellites join the stations at this moment.'}
      </Text>
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" variant="default" disabled={!stay || stay.from_us <= 0} onClick={() => stay && onGo(stay.from_us - 1)}>
          ← Path before
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={!stay || stay.to_us >= path.duration_us}
          onClick={() => stay && onGo(stay.to_us)}
        >
          Next path →
        </Button>
      </Group>
    </div>
  )
}
