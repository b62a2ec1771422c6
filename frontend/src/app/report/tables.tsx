import type { ReactNode } from 'react'
import type { CampaignDay, CampaignDetail, DayRun, LinkFacts, Report } from '@/api/types'
import { eventTimesText } from '@/features/results/campaign/eventTimes'
import { labelGroups } from '@/features/results/campaign/series'
import { effectText, formatP, pairName, primaryTitle } from '@/features/statistics/measures'
import { readingText } from '@/lib/comparisons'
import { formatEstimate, formatNumber, formatRate, NO_VALUE, plural } from '@/lib/format'
import { MEASURES } from '@/lib/quantities'
import { formatDayAndClock } from '@/lib/time'
import { MBPS_PER_BPS } from '@/lib/units'
import { Estimate } from '@/ui/Estimate'
import { StackedTable } from '@/ui/StackedTable'
import { lostOf } from './limits'
import classes from './report.module.css'
import type { ConditionRow } from './settings'

/** Beyond so many the page of runs is the better place. */
const MOST_FAILURES = 40
const GOOD: readonly string[] = ['complete', 'planned', 'leased', 'preparing', 'running', 'restoring', 'uploading']

export function LinksTable({ links }: { links: readonly LinkFacts[] }) {
  return (
    <StackedTable
      label="Links"
      heads={['Link', 'Kind', 'Nominal rate', 'Base RTT, ms', 'Operator', 'Time zone']}
      rows={links.map((one) => ({
        key: `${one.name} ${one.nominal_rate_bps} ${one.base_rtt_ms}`,
        cells: [
          one.name,
          kindText(one),
          formatRate(one.nominal_rate_bps),
          formatNumber(one.base_rtt_ms),
          one.operator || NO_VALUE,
          one.time_zone ?? NO_VALUE,
        ],
      }))}
    />
  )
}

/** "GEO, emulated by the profile geo-viasat". */
function kindText({ orbit, is_emulated, profile }: LinkFacts): string {
  const made = is_emulated === null ? 'not known' : is_emulated ? `emulated${profile ? ` by the profile ${profile}` : ''}` : 'real'
  return [orbit, made].filter(Boolean).join(', ')
}

export function ConditionsTable({ rows }: { rows: readonly ConditionRow[] }) {
  const sides = (['sender', 'receiver'] as const).filter((side) => rows.some((row) => row[side] !== ''))
  return (
    <StackedTable
      label="Conditions"
      heads={['Condition', 'Flows', 'Stops after', ...sides.map((side) => SET_AT[side])]}
      whole={Object.values(SET_AT)}
      rows={rows.map((row) => ({
        key: row.name,
        cells: [
          row.name,
          row.flows,
          row.stop,
          ...sides.map((side) => (
            <span key={side} className={classes.settings}>
              {row[side] || NO_VALUE}
            </span>
          )),
        ],
      }))}
    />
  )
}

const SET_AT = { sender: 'Set at senders', receiver: 'Set at the receiver' } as const

/** "the first 5,000 of 6,000 runs", where the day has not all of the campaign; null where it has. */
export const firstText = ({ runs, total }: CampaignDay): string | null =>
  total > runs.length ? `the first ${formatNumber(runs.length, 0)} of ${plural(total, 'run')}` : null

/** How many runs there are of each condition on each link, by how they ended. */
export function RunsTable({ day, conditions }: { day: CampaignDay; conditions: readonly string[] }) {
  const links = [...new Set(day.runs.map(({ link }) => link))]
  const ends = ['complete', 'failed', 'missed', 'incomplete', 'cancelled'] as const
  const shown = ends.filter((state) => state === 'complete' || day.runs.some((run) => run.state === state))
  const open = day.runs.some(({ state }) => !(ends as readonly string[]).includes(state))
  const first = firstText(day)
  return (
    <>
      {first ? <p>Counted are {first}; the file runs.csv has them all.</p> : null}
      <StackedTable
        label="Runs"
        heads={['Condition', 'Link', ...shown.map(titled), ...(open ? ['Not ended'] : [])]}
        rows={links.flatMap((link) =>
          conditions.flatMap((condition) => {
            const own = day.runs.filter((run) => run.link === link && run.condition === condition)
            const count = (state: string) => own.filter((run) => run.state === state).length
            const ended = ends.reduce((sum, state) => sum + count(state), 0)
            const counts = [...shown.map(count), ...(open ? [own.length - ended] : [])]
            return own.length === 0 ? [] : [{ key: `${link} ${condition}`, cells: [condition, link, ...counts] }]
          }),
        )}
      />
    </>
  )
}

const titled = (state: string) => `${state[0]?.toUpperCase()}${state.slice(1)}`

const KEY_HEADS = [
  'Condition',
  'n',
  'Time to steady state, s',
  'Throughput, start-up, Mb/s',
  'Throughput, steady state, Mb/s',
  'RTT, steady state, ms',
  'Retransmissions, %',
]

/** The numbers that a reader looks for first, of one link. */
export function KeyTable({ report, link }: { report: Report; link: string }) {
  return (
    <StackedTable
      label={`Key figures, ${link}`}
      heads={KEY_HEADS}
      rows={labelGroups(report.groups, link).map(({ label, group }) => ({
        key: label,
        cells: [
          label,
          group.runs,
          eventTimesText(group.time_to_steady_s),
          <Estimate key="startup throughput_bps" text={formatEstimate(group.metrics.startup.throughput_bps, MBPS_PER_BPS)} />,
          <Estimate key="steady throughput_bps" text={formatEstimate(group.metrics.steady.throughput_bps, MBPS_PER_BPS)} />,
          <Estimate key="steady rtt_ms" text={formatEstimate(group.metrics.steady.rtt_ms)} />,
          <Estimate key="overall retransmission_percent" text={formatEstimate(group.metrics.overall.retransmission_percent)} />,
        ],
      }))}
    />
  )
}

/** What the campaign asks about, each with what may be said of it. */
export function DifferencesTable({ report, link }: { report: Report; link: string }) {
  const own = report.comparisons.filter((one) => one.is_primary && one.link === link)
  const flows = new Set(own.map(({ flow }) => flow)).size
  return (
    <StackedTable
      label={`Differences, ${link}`}
      heads={['Metric', 'Compared', 'Difference, ratio', 'Cycles', 'p', 'Reading']}
      whole={['Difference, ratio', 'Reading']}
      rows={own.map((one) => {
        const name = one.metric.startsWith('time_to_') ? one.metric : `${one.phase}.${one.metric}`
        const measure = MEASURES.find((each) => each.name === one.metric)
        return {
          key: `${name} ${one.condition} ${one.flow}`,
          cells: [
            primaryTitle(name),
            `${pairName(one)}${flows > 1 ? `, flow ${one.flow}` : ''}`,
            measure ? effectText(one, measure) : NO_VALUE,
            one.difference.n,
            formatP(one.level_p),
            readingText(one),
          ],
        }
      })}
    />
  )
}

const failuresOf = (day: CampaignDay): DayRun[] => day.runs.filter(({ state }) => !GOOD.includes(state))

/** Every run that is in no mean, with its reason. counts: of the whole campaign, of which the day may have the first runs alone. */
export function Failures({ day, counts }: { day: CampaignDay; counts: CampaignDetail['counts'] }): ReactNode {
  const failures = failuresOf(day)
  const lost = Math.max(failures.length, lostOf(counts))
  if (lost === 0) return <p>{day.runs.length > 0 ? 'No run failed or was missed.' : 'None so far.'}</p>
  const left = lost - Math.min(failures.length, MOST_FAILURES)
  const first = firstText(day)
  return (
    <>
      {first ? <p>{failures.length > 0 ? `The table is of ${first}.` : `There is none among ${first}.`}</p> : null}
      {failures.length > 0 ? <FailuresTable failures={failures.slice(0, MOST_FAILURES)} /> : null}
      {left > 0 ? <p>{plural(left, 'further run is', 'further runs are')} in the file runs.csv, with the reason of each.</p> : null}
    </>
  )
}

function FailuresTable({ failures }: { failures: readonly DayRun[] }) {
  return (
    <StackedTable
      label="Failures"
      heads={['Time (UTC)', 'Link', 'Condition', 'Cycle', 'Attempt', 'State', 'Reason']}
      whole={['Reason']}
      rows={failures.map((run) => ({
        key: run.id,
        cells: [
          formatDayAndClock(run.at),
          run.link,
          run.condition,
          run.cycle,
          run.attempt,
          run.state,
          <span key="reason" style={{ whiteSpace: 'normal' }}>
            {[run.reason, run.detail].filter(Boolean).join(': ') || NO_VALUE}
          </span>,
        ],
      }))}
    />
  )
}
