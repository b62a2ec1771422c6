import type { CampaignDay, CampaignDetail, Circumstances, LinkFacts, Report } from '@/api/types'
import { secondsOf } from '@/charts/clock'
import { formatNumber, plural } from '@/lib/format'
import { formatDuration } from '@/lib/time'
import { linksText, listed } from './method'

/** Fewer runs are drawn one by one, and an interval of them says little. */
const FEW = 5
/** What changes over a day is seen in a day at least. */
const DAY_S = 86_400

export interface Known {
  campaign: CampaignDetail
  report: Report | null
  day: CampaignDay
  around: Circumstances
  links: readonly LinkFacts[]
}

/** What a reader must not conclude, made of what is known of the campaign. */
export function studyLimits(known: Known): string[] {
  const { campaign, report, around } = known
  return [
    ...stateSentences(campaign, report),
    ...countSentences(campaign),
    ...(report ? smallSentences(report) : []),
    ...linkSentences(known),
    ...timeSentences(known),
    ...unsetSentences(around),
    ...carriedSentences(campaign, around),
    ...severalWays(around.ways),
    ...(around.implausible > 0
      ? [
          `${plural(around.implausible, 'run')} say what the link cannot give: a rate far above its own, or round trips below what its orbit allows. See these runs before you use the means.`,
        ]
      : []),
    ...(around.left_out > 0
      ? [`${plural(around.left_out, 'run')} were excluded from all statistics by hand; each shows by whom and why.`]
      : []),
    ...(around.not_restored > 0
      ? [`After ${plural(around.not_restored, 'run')} a host’s settings differed from before: later runs may have had other settings.`]
      : []),
    ...kernelSentences(around),
    ...(report ? oddSentences(report) : []),
  ]
}

function stateSentences({ state, runs_ended, runs_total }: CampaignDetail, report: Report | null): string[] {
  const found: string[] = []
  if (state !== 'complete' && state !== 'draft')
    found.push(
      state === 'cancelled'
        ? `The campaign was cancelled: ${runs_ended} of ${plural(runs_total, 'planned run')} took place or were given up.`
        : `The campaign has not ended: ${runs_ended} of ${plural(runs_total, 'planned run')} have. These statements may change.`,
    )
  if (report && !report.is_current) found.push('Newer runs are not in these numbers yet.')
  if (report?.is_outdated) found.push('The numbers come from an older version of the analysis than this server’s.')
  return found
}

/** How many attempts of the whole campaign are in no mean. */
export const lostOf = ({ failed, missed, incomplete, cancelled }: CampaignDetail['counts']) => failed + missed + incomplete + cancelled

/** Runs that are in no mean. */
function countSentences({ counts }: CampaignDetail): string[] {
  const { failed, missed, incomplete, cancelled } = counts
  const parts = [
    failed > 0 ? `${failed} failed` : '',
    missed > 0 ? `${missed} ${missed === 1 ? 'was' : 'were'} missed` : '',
    incomplete > 0 ? `${incomplete} ${incomplete === 1 ? 'is' : 'are'} incomplete` : '',
    cancelled > 0 ? `${cancelled} ${cancelled === 1 ? 'was' : 'were'} cancelled` : '',
  ].filter(Boolean)
  if (parts.length === 0) return []
  const lost = lostOf(counts)
  return [
    `Of ${plural(lost + counts.complete, 'attempt')}, ${listed(parts)}. ${lost === 1 ? 'It is' : 'They are'} in no mean; where they failed for what was measured, the means flatter.`,
  ]
}

function smallSentences({ groups, comparisons }: Report): string[] {
  const least = Math.min(...groups.map(({ runs }) => runs))
  const found: string[] = []
  if (groups.length > 0 && least < FEW)
    found.push(
      `Some conditions have ${least === 1 ? 'one run' : `${least} runs`}: ${least === 1 ? 'it has no interval, and' : 'intervals of so few are wide, and figures show the single runs instead;'} a further run may change the picture.`,
    )
  const primary = comparisons.filter(({ is_primary }) => is_primary)
  const short = primary.filter(({ reading }) => reading === 'too_few')
  if (short.length > 0) {
    const needed = Math.max(...short.map(({ cycles_for_test }) => cycles_for_test ?? 0))
    const most = Math.max(...short.map(({ difference }) => difference.n))
    found.push(
      `${most === 1 ? 'One cycle' : `${most} cycles`} cannot show a difference at 5 %, however large it is${needed > 0 ? `: the test takes ${needed}` : ''}. No difference here is shown by a test.`,
    )
  }
  return found
}

function linkSentences({ links, report }: Known): string[] {
  const emulated = [...new Set(links.filter(({ is_emulated }) => is_emulated).map(({ name }) => name))]
  const found: string[] = []
  if (emulated.length > 0)
    found.push(
      `${emulated.length === 1 ? 'The link' : 'The links'} ${listed(emulated)} ${emulated.length === 1 ? 'is' : 'are'} emulated: what TCP does over a link of this profile is seen, not what a real service does. Each run met the same course of rates, delays and outages, drawn from its cycle's seed.`,
    )
  const without = (report?.links ?? []).reduce((sum, { without_log }) => sum + without_log, 0)
  if (without > 0) found.push(`${plural(without, 'run has', 'runs have')} no log of the emulated link.`)
  return found
}

function timeSentences({ day, links, campaign }: Known): string[] {
  const real = [...new Set(links.filter(({ is_emulated }) => is_emulated === false).map(({ name }) => name))]
  if (real.length === 0 || !day.from_at || !day.to_at || campaign.origin === 'imported') return []
  // Of more runs than the day has, the last ended before the campaign did; when is not known before.
  const end = day.total > day.runs.length ? campaign.ended_at : day.to_at
  const span = end ? secondsOf(end) - secondsOf(day.from_at) : DAY_S
  return span < DAY_S
    ? [
        `All runs over ${linksText(real)} lie within ${formatDuration(Math.max(1, span))}: what the hour, the load of other users and the weather change is not seen.`,
      ]
    : []
}

function unsetSentences({ unset }: Circumstances): string[] {
  return unset.map(
    ({ roles, name, asked, found, runs }) =>
      `${name} was asked to be ${asked} at the ${listed(roles)}, and was ${found} in ${plural(runs, 'run')}.`,
  )
}

function carriedSentences({ spec }: CampaignDetail, { flows }: Circumstances): string[] {
  const other = flows.filter(({ asked_cc, actual_cc }) => asked_cc !== actual_cc)
  // A probe flow has no ACK.
  const polled = spec.sampling === 'per_ack' ? flows.filter((one) => one.sampling === 'polled' && one.asked_cc !== 'probe') : []
  const sum = polled.reduce((total, { flows: count }) => total + count, 0)
  return [
    ...other.map(({ asked_cc, actual_cc, flows: count }) => `${plural(count, 'flow')} asked for ${asked_cc} and ran ${actual_cc}.`),
    ...(sum > 0 ? [`${plural(sum, 'flow')} could not be recorded by every ACK and ${sum === 1 ? 'was' : 'were'} polled.`] : []),
  ]
}

function kernelSentences({ kernels }: Circumstances): string[] {
  const names = [...new Set(kernels.map(({ kernel }) => kernel))].sort()
  const changed = ['sender', 'receiver'].some((role) => kernels.filter(({ roles }) => roles.includes(role)).length > 1)
  return changed ? [`Not all runs had the same kernels (${listed(names)}).`] : []
}

function oddSentences({ outliers, groups }: Report): string[] {
  const short = groups.reduce((sum, { too_short }) => sum + too_short, 0)
  return [
    ...(short > 0
      ? [`${plural(short, 'run was', 'runs were')} too short for a series and ${short === 1 ? 'has' : 'have'} no number.`]
      : []),
    ...(outliers.length > 0
      ? [
          `${formatNumber(outliers.length, 0)} ${outliers.length === 1 ? 'value lies' : 'values lie'} far from their median. They stay in every statistic.`,
        ]
      : []),
  ]
}

/** Runs of one link that went by several interfaces or first hops: each way is a group of its own. */
function severalWays(ways: Circumstances['ways']): string[] {
  return [...new Set(ways.map(({ link }) => link))].flatMap((link) => {
    const own = ways.filter((each) => each.link === link)
    if (new Set(own.map(({ receiver, sender }) => `${receiver} ${sender}`)).size < 2) return []
    const told = own.map(({ receiver, sender, runs }) => `${receiver || `sender ${sender}`} (${plural(runs, 'run')})`)
    return [`Runs over ${link} took several ways: ${told.join('; ')}. Each way has numbers of its own.`]
  })
}
