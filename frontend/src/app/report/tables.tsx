import { Table } from '@mantine/core'
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
import { ScrollTable } from '@/ui/ScrollTable'
import { lostOf } from './limits'
import classes from './report.module.css'
import type { ConditionRow } from './settings'

/** Beyond so many the page of runs is the better place. */
const MOST_FAILURES = 40
const GOOD: readonly string[] = ['complete', 'planned', 'leased', 'preparing', 'running', 'restoring', 'uploading']

export function LinksTable({ links }: { links: readonly LinkFacts[] }) {
  return (
    <ScrollTable label="Links" heads={['Link', 'Kind', 'Nominal rate', 'Base RTT, ms', 'Operator', 'Time zone']} data-wraps>
      {links.map((one) => (
        <Table.Tr key={`${one.name} ${one.nominal_rate_bps} ${one.base_rtt_ms}`}>
          <Table.Th scope="row">{one.name}</Table.Th>
          <Table.Td>{kindText(one)}</Table.Td>
          <Table.Td>{formatRate(one.nominal_rate_bps)}</Table.Td>
          <Table.Td>{formatNumber(one.base_rtt_ms)}</Table.Td>
          <Table.Td>{one.operator || NO_VALUE}</Table.Td>
          <Table.Td>{one.time_zone ?? NO_VALUE}</Table.Td>
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}

/** "GEO, emulated by the profile geo-viasat". */
function kindText({ orbit, is_emulated, profile }: LinkFacts): string {
  const made = is_emulated === null ? 'not known' : is_emulated ? `emulated${profile ? ` by the profile ${profile}` : ''}` : 'real'
  return [orbit, made].filter(Boolean).join(', ')
}

export function ConditionsTable({ rows }: { rows: readonly ConditionRow[] }) {
  const has = (key: 'sender' | 'receiver') => rows.some((row) => row[key] !== '')
  const heads = [
    'Condition',
    'Flows',
    'Stops after',
    ...(has('sender') ? ['Set at senders'] : []),
    ...(has('receiver') ? ['Set at the receiver'] : []),
  ]
  return (
    <ScrollTable label="Conditions" heads={heads} data-wraps>
      {rows.map((row) => (
        <Table.Tr key={row.name}>
          <Table.Th scope="row">{row.name}</Table.Th>
          <Table.Td>{row.flows}</Table.Td>
          <Table.Td>{row.stop}</Table.Td>
          {has('sender') ? <Table.Td className={classes.settings}>{row.sender || NO_VALUE}</Table.Td> : null}
          {has('receiver') ? <Table.Td className={classes.settings}>{row.receiver || NO_VALUE}</Table.Td> : null}
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}

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
      <ScrollTable label="Runs" heads={['Link', 'Condition', ...shown.map(titled), ...(open ? ['Not ended'] : [])]}>
        {links.flatMap((link) =>
          conditions.map((condition) => {
            const own = day.runs.filter((run) => run.link === link && run.condition === condition)
            const count = (state: string) => own.filter((run) => run.state === state).length
            return own.length === 0 ? null : (
              <Table.Tr key={`${link} ${condition}`}>
                <Table.Th scope="row">{link}</Table.Th>
                <Table.Td>{condition}</Table.Td>
                {shown.map((state) => (
                  <Table.Td key={state}>{count(state)}</Table.Td>
                ))}
                {open ? <Table.Td>{own.length - ends.reduce((sum, state) => sum + count(state), 0)}</Table.Td> : null}
              </Table.Tr>
            )
          }),
        )}
      </ScrollTable>
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
    <ScrollTable label={`Key figures, ${link}`} heads={KEY_HEADS} data-wraps>
      {labelGroups(report.groups, link).map(({ label, group }) => (
        <Table.Tr key={label}>
          <Table.Th scope="row">{label}</Table.Th>
          <Table.Td>{group.runs}</Table.Td>
          <Table.Td>{eventTimesText(group.time_to_steady_s)}</Table.Td>
          <Table.Td>{formatEstimate(group.metrics.startup.throughput_bps, MBPS_PER_BPS)}</Table.Td>
          <Table.Td>{formatEstimate(group.metrics.steady.throughput_bps, MBPS_PER_BPS)}</Table.Td>
          <Table.Td>{formatEstimate(group.metrics.steady.rtt_ms)}</Table.Td>
          <Table.Td>{formatEstimate(group.metrics.overall.retransmission_percent)}</Table.Td>
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}

/** What the campaign asks about, each with what may be said of it. */
export function DifferencesTable({ report, link }: { report: Report; link: string }) {
  const own = report.comparisons.filter((one) => one.is_primary && one.link === link)
  const flows = new Set(own.map(({ flow }) => flow)).size
  return (
    <ScrollTable label={`Differences, ${link}`} heads={['Metric', 'Compared', 'Difference, ratio', 'Cycles', 'p', 'Reading']} data-wraps>
      {own.map((one) => {
        const name = one.metric.startsWith('time_to_') ? one.metric : `${one.phase}.${one.metric}`
        const measure = MEASURES.find((each) => each.name === one.metric)
        return (
          <Table.Tr key={`${name} ${one.condition} ${one.flow}`}>
            <Table.Th scope="row">{primaryTitle(name)}</Table.Th>
            <Table.Td>
              {pairName(one)}
              {flows > 1 ? `, flow ${one.flow}` : ''}
            </Table.Td>
            <Table.Td>{measure ? effectText(one, measure) : NO_VALUE}</Table.Td>
            <Table.Td>{one.difference.n}</Table.Td>
            <Table.Td>{formatP(one.level_p)}</Table.Td>
            <Table.Td>{readingText(one)}</Table.Td>
          </Table.Tr>
        )
      })}
    </ScrollTable>
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
    <ScrollTable label="Failures" heads={['Time (UTC)', 'Link', 'Condition', 'Cycle', 'Attempt', 'State', 'Reason']} data-wraps>
      {failures.map((run) => (
        <Table.Tr key={run.id}>
          <Table.Th scope="row">{formatDayAndClock(run.at)}</Table.Th>
          <Table.Td>{run.link}</Table.Td>
          <Table.Td>{run.condition}</Table.Td>
          <Table.Td>{run.cycle}</Table.Td>
          <Table.Td>{run.attempt}</Table.Td>
          <Table.Td>{run.state}</Table.Td>
          <Table.Td style={{ whiteSpace: 'normal', minWidth: 180 }}>
            {[run.reason, run.detail].filter(Boolean).join(': ') || NO_VALUE}
          </Table.Td>
        </Table.Tr>
      ))}
    </ScrollTable>
  )
}
