import type { CampaignDetail, CampaignSpec, Circumstances, Report } from '@/api/types'
import { formatNumber, plural } from '@/lib/format'
import { MEASURES, phaseTitle } from '@/lib/quantities'
import { stopOf } from '@/lib/stop'
import { formatDuration, formatMoment } from '@/lib/time'

/** "a", "a and b", "a, b and c". */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}

/** "the link geo", "the links geo and leo". */
export const linksText = (names: readonly string[]) => `the ${names.length === 1 ? 'link' : 'links'} ${listed(names)}`

/** "throughput in start-up": what a campaign asks about, within a sentence. */
export function askedText(name: string): string {
  const [first = '', metric] = name.split('.')
  const title = MEASURES.find((one) => one.name === (metric ?? first))?.title ?? name
  const within = /^[A-Z][a-z]/.test(title) ? `${title[0]?.toLowerCase()}${title.slice(1)}` : title
  if (!metric) return within
  return `${within} ${PLACES[first] ?? `in the window “${phaseTitle(first)}”`}`
}

const PLACES: Readonly<Record<string, string>> = { startup: 'in start-up', steady: 'in steady state', overall: 'over the whole run' }

/** How a campaign was measured, how its hosts were set, and how its numbers are made: sentences of its file and its report alone. */
export function methodParagraphs(campaign: CampaignDetail, report: Report | null, around: Circumstances | null): string[][] {
  const { spec } = campaign
  if (campaign.origin === 'imported')
    return [
      [
        `The ${plural(campaign.runs_total, 'run')} were measured with other tools and read from their files. What the files do not say about hosts, settings and order is not known.`,
      ],
      analysisSentences(campaign, report),
    ]
  return [
    [subjectSentence(campaign), orderSentence(spec), stopSentence(spec), ...flowSentences(spec), attemptSentence(spec)],
    [samplingSentence(spec), ...settingSentences(spec), ...kernelSentences(around)],
    [phaseSentence(spec), ...analysisSentences(campaign, report)],
  ]
}

const attemptSentence = ({ limits }: CampaignSpec) =>
  limits.attempts > 1 ? `A run that failed was tried again, up to ${limits.attempts} attempts in all.` : 'No run was tried a second time.'

function subjectSentence({ spec, launched_at, ended_at, is_recorded }: CampaignDetail): string {
  const when = launched_at
    ? ended_at
      ? `Between ${formatMoment(launched_at)} and ${formatMoment(ended_at)}`
      : `Since ${formatMoment(launched_at)}`
    : 'When it is launched'
  const where = is_recorded ? ' The campaign was measured by another server and loaded from its archive.' : ''
  const count = spec.conditions.length
  const names = listed(spec.conditions.map(({ name }) => name))
  const what = count === 1 ? `downloads under one condition (${names})` : `downloads under ${count} conditions (${names})`
  return `${when}, ${what} ${launched_at ? 'were' : 'are'} measured over ${linksText(spec.links)}.${where}`
}

export function orderSentence({ timetable, conditions, until }: CampaignSpec): string {
  const { cycles, duration_h, every_s, pause_s, order, seed } = timetable
  const all = conditions.length === 1 ? 'the condition once' : 'each condition once'
  const drawn =
    conditions.length === 1
      ? ''
      : order === 'shuffled'
        ? `, in an order drawn separately for each cycle (seed ${seed})`
        : ', in the order of the file'
  const apart = pause_s > 0 ? `, ${formatDuration(pause_s)} apart` : ''
  const extent = until
    ? `Cycles went on${apart}, until ${askedText(`${until.phase}.${until.metric}`)} was known within ± ${until.half_width_percent} % of the mean for every condition on every link, by a confidence sequence that holds at every look, or ${plural(until.most_cycles, 'cycle')} had run`
    : cycles
      ? `${plural(cycles, 'cycle')} ${cycles === 1 ? 'was' : 'were'} planned on each link${apart}`
      : `For ${formatNumber(duration_h, duration_h !== null && Number.isInteger(duration_h) ? 0 : undefined)} h a run was planned every ${formatDuration(every_s)} on each link, cycle after cycle`
  return [`${extent}. A cycle has ${all}${drawn}.`, ...clockSentences(timetable)].join(' ')
}

function clockSentences({ start_at, opening_hours, repeat }: CampaignSpec['timetable']): string[] {
  const hours = opening_hours?.length ? [`Runs lay within ${listed(opening_hours)} by the clock of each link’s time zone.`] : []
  const start = start_at ? [`No run began before ${start_at}.`] : []
  return [...start, ...(repeat ? [`All of it was planned again each ${repeat.every} until ${repeat.until}.`] : []), ...hours]
}

export function stopSentence({ conditions }: CampaignSpec): string {
  const rule = ({ stop }: CampaignSpec['conditions'][number]) =>
    stop.seconds != null ? `after ${stopOf(stop)}, counted from the first data byte` : `when each flow had sent ${stopOf(stop)}`
  const rules = [...new Set(conditions.map(rule))]
  if (rules.length === 1) return `A run stopped ${rules[0]}.`
  const own = conditions.map((one) => `${one.name}: ${rule(one)}`)
  return `When a run stopped depended on its condition: ${own.join('; ')}.`
}

function flowSentences({ conditions }: CampaignSpec): string[] {
  const shared = conditions.filter(({ flows }) => flows.length > 1)
  const late = conditions.some(({ flows }) => flows.some(({ start_s }) => start_s > 0))
  if (shared.length === 0) return ['Each run had one flow, alone on the link as far as the campaign goes.']
  const which = shared.length === conditions.length ? 'each run' : `runs of ${listed(shared.map(({ name }) => name))}`
  return [`In ${which} several flows shared the link${late ? ', some of which began later than others' : ' and began together'}.`]
}

const samplingSentence = ({ sampling }: CampaignSpec) =>
  sampling === 'per_ack'
    ? "The sender's kernel recorded the state of its connection with every ACK, where the host could."
    : "At both ends the kernel's view of the connection (TCP_INFO) was polled while the run went on; nothing else crossed the link."

const settingSentences = ({ conditions }: CampaignSpec) =>
  conditions.some(({ sender, receiver }) => Object.keys({ ...sender, ...receiver }).length > 0)
    ? ['Before each run the hosts were set as the table of conditions says, and put back after it. What was in force was read back.']
    : ['No host setting was changed.']

function kernelSentences(around: Circumstances | null): string[] {
  const kernels = around?.kernels ?? []
  if (kernels.length === 0) return []
  const own = (role: string) => [...new Set(kernels.filter(({ roles }) => roles.includes(role)).map(({ kernel }) => kernel))]
  const [senders, receivers] = [own('sender'), own('receiver')]
  if (senders.join() === receivers.join()) return [`The hosts ran Linux ${listed(senders)}.`]
  return [`Senders ran Linux ${listed(senders)}, receivers Linux ${listed(receivers)}.`]
}

function phaseSentence({ phases, windows }: CampaignSpec): string {
  const own = (windows ?? []).map(({ name, from_s, to_s }) => `“${name}” from ${formatNumber(from_s)} s to ${formatNumber(to_s)} s`)
  const further = own.length > 0 ? `, and ${plural(own.length, 'further window')}: ${listed(own)}` : ''
  return `Start-up is the first ${formatDuration(phases.startup_s)} of a run, steady state its last ${formatDuration(phases.steady_s)}, overall all of it${further}.`
}

function analysisSentences({ spec, conditions, links }: CampaignDetail, report: Report | null): string[] {
  const [baseline] = conditions
  const compared =
    conditions.length > 1 && baseline
      ? [
          `Each condition is compared with ${baseline}, cycle by cycle on the same link: differences are paired, with Student's interval and, beside it, a bootstrap interval over cycles.`,
          `The campaign asks about ${listed(spec.primary_metrics.map(askedText))}. These alone are tested: by the paired sign-flip test over cycles, with p values adjusted by Holm's method over ${links.length > 1 ? 'all links, flows and conditions' : 'all flows and conditions'} of a metric. All other differences are shown with their intervals and claim nothing.`,
        ]
      : []
  return [
    "Means are over complete runs, with 95 % intervals of Student's t on a scale that ends where the quantity does. Times that some runs do not reach are medians over all runs (Kaplan and Meier).",
    ...compared,
    ...(report ? [`The numbers were computed from the sealed traces by version ${report.analysis_version} of Downlink's analysis.`] : []),
  ]
}
