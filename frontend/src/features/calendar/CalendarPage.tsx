import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Calendar, CalendarLane, CalendarLink } from '@/api/types'
import { dateText, secondsOf } from '@/charts/clock'
import { Empty } from '@/ui/Empty'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { StateBadge } from '@/ui/StateBadge'
import { useNow } from '@/ui/useNow'
import classes from './calendar.module.css'
import { carriedText, dayOf, daysOf, lanesText, laneText, shifted, stripCells } from './lanes'
import { useCalendar } from './queries'
import { type CalendarSearch, SPANS } from './search'

const route = getRouteApi('/shell/calendar')
const HEIGHT = 30

const SPAN_NAMES: Record<(typeof SPANS)[number], string> = { 1: '1 day', 7: '1 week', 28: '4 weeks' }

/** What ran, runs and will run on every link. */
export function CalendarPage() {
  const search = route.useSearch()
  const calendar = useCalendar(search)
  return (
    <>
      <PageHeader
        title="Calendar"
        description="Runs of every campaign on every link by the clock, in UTC. A click on a campaign opens its day strip."
      />
      <QueryPanel query={calendar} skeletonRows={10}>
        {(data) => (
          <Stack gap="lg">
            <Choices calendar={data} search={search} />
            {data.total === 0 ? <NoRuns calendar={data} search={search} /> : null}
            {data.links.map((link) => (
              <LinkPanel key={link.link} link={link} calendar={data} />
            ))}
            {data.total > shownLanes(data) ? (
              <Text size="sm" c="dimmed">
                {shownLanes(data)} of {data.total} campaigns by link: those that begin first. Choose fewer days to see the others.
              </Text>
            ) : null}
          </Stack>
        )}
      </QueryPanel>
    </>
  )
}

const shownLanes = ({ links }: Calendar) => links.reduce((sum, { lanes }) => sum + lanes.length, 0)

/** "23 Nov 2026 to 29 Nov 2026". */
function spanText(calendar: Calendar): string {
  const days = daysOf(calendar)
  const [first, last] = [days[0], days.at(-1)].map((day) => dateText(secondsOf(day ?? calendar.from_at)))
  return first === last ? `${first}` : `${first} to ${last}`
}

function Choices({ calendar, search }: { calendar: Calendar; search: CalendarSearch }) {
  const navigate = route.useNavigate()
  const from = dayOf(calendar.from_at)
  const days = search.days ?? 7
  const step = (label: string, next: CalendarSearch) => (
    <Button size="sm" variant="default" renderRoot={(props) => <Link to="/calendar" search={next} resetScroll={false} {...props} />}>
      {label}
    </Button>
  )
  return (
    <Group gap="sm" align="end">
      <Select
        label="Shown"
        w={120}
        data={SPANS.map((span) => ({ value: String(span), label: SPAN_NAMES[span] }))}
        value={String(days)}
        allowDeselect={false}
        onChange={(next) => void navigate({ search: { ...search, days: Number(next) }, resetScroll: false })}
      />
      <Group component="nav" gap="xs" aria-label="Days">
        {step('← Earlier', { ...search, from: shifted(from, -days) })}
        {step('Now', { days: search.days })}
        {step('Later →', { ...search, from: shifted(from, days) })}
      </Group>
      <Text fw={550} aria-live="polite">
        {spanText(calendar)}
      </Text>
      <Legend />
    </Group>
  )
}

function Legend() {
  const signs = [
    ['good', 'complete'],
    ['partial', 'incomplete'],
    ['active', 'under way'],
    ['waiting', 'planned'],
    ['ended', 'cancelled'],
    ['bad', 'failed or missed, above the others'],
  ] as const
  return (
    <ul className={classes.legend}>
      {signs.map(([tone, text]) => (
        <li key={tone}>
          <span className={classes.sign} data-tone={tone} aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  )
}

/** Where runs are, when there are none here. */
function NoRuns({ calendar, search }: { calendar: Calendar; search: CalendarSearch }) {
  const nearest = [
    ['To the last run before', calendar.before_at],
    ['To the first run after', calendar.after_at],
  ] as const
  const isNone = nearest.every(([, at]) => at === null)
  return (
    <Panel>
      <Empty
        title={isNone ? 'No runs yet' : 'No runs in these days'}
        action={
          isNone ? (
            <Link to="/campaigns/new">Make a campaign</Link>
          ) : (
            <Group gap="md" justify="center">
              {nearest.map(([label, at]) =>
                at ? (
                  <Link key={label} to="/calendar" search={{ ...search, from: dayOf(at) }}>
                    {label}, {dateText(secondsOf(at))}
                  </Link>
                ) : null,
              )}
            </Group>
          )
        }
      >
        {isNone ? 'Launch a campaign: its runs are planned from that moment on and shown here.' : null}
      </Empty>
    </Panel>
  )
}

function LinkPanel({ link, calendar }: { link: CalendarLink; calendar: Calendar }) {
  const night = link.time_zone ? ` Shaded: night in ${link.time_zone}.` : ''
  return (
    <Panel title={link.link} description={link.lanes.length > 0 ? `${carriedText(link)}${night}` : 'No runs in these days.'} isFlush>
      {link.lanes.length > 0 ? (
        <>
          <Axis calendar={calendar} />
          <ul className={classes.lanes}>
            {link.lanes.map((lane) => (
              <Lane key={lane.campaign_id} {...{ lane, link, calendar }} />
            ))}
          </ul>
        </>
      ) : null}
    </Panel>
  )
}

/** Names of days over their part of the strips; of many days every other name, or every week's. */
function Axis({ calendar }: { calendar: Calendar }) {
  const days = daysOf(calendar)
  const marks =
    days.length === 1 ? ['00:00', '06:00', '12:00', '18:00'] : days.map((day) => dateText(secondsOf(day)).replace(/ \d{4}$/, ''))
  return (
    <div className={classes.axis} aria-hidden="true" data-many={days.length > 7 || undefined}>
      {marks.map((mark) => (
        <span key={mark}>{mark}</span>
      ))}
    </div>
  )
}

function Lane({ lane, link, calendar }: { lane: CalendarLane; link: CalendarLink; calendar: Calendar }) {
  const to = { to: '/campaigns/$campaignId', params: { campaignId: lane.campaign_id }, search: { tab: 'day' } } as const
  return (
    <li>
      <div className={classes.laneHead}>
        <Link {...to}>{lane.name}</Link>
        <StateBadge state={lane.state} />
        <Text size="sm" c="dimmed" component="span">
          {lanesText(lane)}
        </Text>
      </div>
      <Link {...to} tabIndex={-1} className={classes.strip} aria-label={`${lane.name}, ${laneText(lane)}`}>
        <Strip {...{ lane, link, calendar }} />
      </Link>
    </li>
  )
}

/** Drawn in cells across and pixels down. */
function Strip({ lane, link, calendar }: { lane: CalendarLane; link: CalendarLink; calendar: Calendar }) {
  const now_ms = useNow(60_000)
  const place = (at: string) => (secondsOf(at) - secondsOf(calendar.from_at)) / calendar.cell_s
  const width = place(calendar.to_at)
  const now = place(new Date(now_ms).toISOString())
  return (
    <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" height={HEIGHT} aria-hidden="true">
      {link.nights.map(({ from_at, to_at }) => (
        <rect key={from_at} className={classes.night} x={place(from_at)} width={place(to_at) - place(from_at)} height={HEIGHT} />
      ))}
      {daysOf(calendar).map((day) => (
        <line key={day} className={classes.midnight} x1={place(day)} x2={place(day)} y2={HEIGHT} />
      ))}
      {stripCells(lane, calendar).map(({ at, text, blocks }) => (
        <g key={at}>
          <title>{text}</title>
          {blocks.map(({ tone, x, y, height }) => (
            <rect key={tone} className={classes.block} data-tone={tone} x={x + 0.06} width={0.88} y={y * HEIGHT} height={height * HEIGHT} />
          ))}
        </g>
      ))}
      {now > 0 && now < width ? <line className={classes.now} x1={now} x2={now} y2={HEIGHT} /> : null}
    </svg>
  )
}
