import type { CampaignPreview, CampaignSpec, Condition } from '@/api/types'
import { formatNumber, plural } from '@/lib/format'
import { LINKED, METRICS, phaseTitle } from '@/lib/quantities'
import { stopOf } from '@/lib/stop'
import { formatDuration, formatMoment } from '@/lib/time'

/** "35 s per run", or that conditions differ. */
export function stopText(spec: CampaignSpec): string {
  const all = new Set(spec.conditions.map(({ stop }) => stopOf(stop)))
  const [first] = all
  return all.size === 1 && first ? `${first} per run` : 'stop rule by condition'
}

/** "3 cycles, interleaved", "at most 60 cycles, interleaved" or "24 h, one run every 6 min 45 s, shuffled with seed 7". */
export function timetableText({ timetable, until }: Pick<CampaignSpec, 'timetable' | 'until'>): string {
  const { duration_h, every_s, pause_s, order, seed } = timetable
  const extent =
    timetable.cycles || until
      ? `${cyclesText({ timetable, until })}${pause_s > 0 ? `, ${formatDuration(pause_s)} between them` : ''}`
      : `${duration_h} h, one run every ${formatDuration(every_s)}`
  return [extent, order === 'shuffled' ? `shuffled with seed ${seed}` : 'interleaved', ...clockTexts({ timetable })].join(', ')
}

/** "3 cycles" or "at most 60 cycles"; nothing for a campaign of so many hours. */
export function cyclesText({ timetable: { cycles }, until }: Pick<CampaignSpec, 'timetable' | 'until'>): string {
  if (until) return `at most ${plural(until.most_cycles, 'cycle')}`
  return cycles ? plural(cycles, 'cycle') : ''
}

/** "until throughput (steady state) is known within ± 5 %", of a campaign with `until`: nothing for others. */
export function untilTexts({ until }: Pick<CampaignSpec, 'until'>): string[] {
  if (!until) return []
  const title = METRICS.find(({ name }) => name === until.metric)?.title ?? until.metric
  const of = [phaseTitle(until.phase).toLowerCase(), ...(until.flow > 1 ? [`flow ${until.flow}`] : [])].join(', ')
  return [`until ${title} (${of}) is known within ± ${until.half_width_percent} %`]
}

/** "Goodput (overall, flow 1) of Cubic on geo above 20 and below 120 Mb/s", for each range that a campaign expects. */
export function expectTexts({ expect = [] }: Pick<CampaignSpec, 'expect'>): string[] {
  return expect.map(({ metric, above, below, condition, link, flow }) => {
    const [phase = '', name = ''] = metric.split('.')
    const { title, unit, factor } = [...METRICS, ...LINKED].find((each) => each.name === name) ?? { title: name, unit: '', factor: 1 }
    const of = [phaseTitle(phase).toLowerCase(), ...(flow == null ? [] : [`flow ${flow}`])].join(', ')
    const whose = `${condition == null ? '' : ` of ${condition}`}${link == null ? '' : ` on ${link}`}`
    const bounds = [
      ...(above == null ? [] : [`above ${bound(above * factor)}`]),
      ...(below == null ? [] : [`below ${bound(below * factor)}`]),
    ]
    return `${title} (${of})${whose} ${bounds.join(' and ')} ${unit}`.trim()
  })
}

/** As it was written: no digit is lost. */
const bound = (value: number) => `${Number(value.toPrecision(12))}`

/** How many cycles to expect, of a preview with `until`. */
export function forecastText({ cycles, half_width_percent, most_cycles, pilot, pilot_ended_at }: NonNullable<CampaignPreview['forecast']>) {
  if (cycles === null) return `at most ${most_cycles}; no complete campaign with these conditions and links predicts how many`
  const width = half_width_percent === null ? '' : `, ± ${formatNumber(half_width_percent)} % then`
  return `at most ${most_cycles}, expected ${cycles}${width}, by the campaign ${pilot} of ${formatMoment(pilot_ended_at)}`
}

/** What of its timetable follows a clock: nothing for a campaign that begins with its launch. */
export function clockTexts({ timetable: { start_at, opening_hours, repeat } }: Pick<CampaignSpec, 'timetable'>): string[] {
  return [
    ...(start_at ? [`starts at ${start_at}`] : []),
    ...(repeat ? [`again each ${repeat.every} until ${repeat.until}`] : []),
    ...(opening_hours?.length ? [`open ${opening_hours.join(' and ')} by each link’s clock`] : []),
  ]
}

/** What starts its runs, of a campaign with a trigger: nothing for others. */
export function triggerTexts({ trigger }: Pick<CampaignSpec, 'trigger'>): string[] {
  if (!trigger) return []
  const { when, pause_s, most_per_day, most, until } = trigger
  const cause = when.call
    ? 'by a signed call'
    : when.slot
      ? `at the beginning of a slot of ${when.slot.every_s} s (from second ${when.slot.at_s})`
      : `when ${when.quantity} of ${when.link} is ${typeof when.above === 'number' ? `above ${when.above}` : `below ${when.below}`}${when.for_s ? ` for ${when.for_s} s` : ''}`
  const limits = [`${most_per_day} a day`, `${most} in all`, ...(until ? [`until ${until}`] : [])]
  return [`starts ${cause}, at least ${formatDuration(pause_s)} apart, at most ${limits.join(', ')}`]
}

/** "weight 2", and what that gives on each link that other campaigns want too. */
export function weightText({ campaign, sharing }: Pick<CampaignPreview, 'campaign' | 'sharing'>): string {
  const shares = sharing.map(
    ({ link, share, others }) =>
      `${Math.round(share * 100)} % of ${link} while ${others.map(({ name, weight }) => `${name} (weight ${weight})`).join(', ')} ${others.length === 1 ? 'wants' : 'want'} it too`,
  )
  return [String(campaign.weight), ...shares].join(': ')
}

export function samplingText({ sampling }: Pick<CampaignSpec, 'sampling'>): string {
  return sampling === 'per_ack' ? 'every ACK, where the sender can' : 'polled'
}

/** "cubic from sender 1", "INTCP from sender 1 to receiver 2, content 1, 5 s later". */
export function flowText(flow: Condition['flows'][number]): string {
  const receiver = ('receiver' in flow && flow.receiver) || 1
  const content = 'content' in flow ? flow.content : null
  const parts = [
    `${carried(flow)} from sender ${flow.sender}${receiver > 1 ? ` to receiver ${receiver}` : ''}`,
    ...(content ? [`content ${content}`] : []),
    ...(flow.start_s > 0 ? [`${flow.start_s} s later`] : []),
  ]
  return parts.join(', ')
}

/** "cubic", "dl_cubic_search (version 4)", "INTCP (cache off)", "cubic, split, relays with dl_hybla", or "Probes every 100 ms". */
export function carried(flow: Condition['flows'][number]): string {
  if ('probe' in flow) return `Probes every ${flow.probe.every_ms} ms`
  const options = Object.entries(flow.options).map(([name, value]) => `${name} ${String(value)}`)
  const name = 'cc' in flow ? flow.cc : 'INTCP'
  const relays = 'cc' in flow && flow.transport === 'split' ? `, split, relays with ${flow.relay_cc}` : ''
  const offer = flow.offer ? `, ${flow.offer.message_bytes} bytes every ${flow.offer.every_ms} ms` : ''
  return `${options.length > 0 ? `${name} (${options.join(', ')})` : name}${relays}${offer}`
}
