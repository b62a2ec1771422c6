import { describe, expect, it } from 'vitest'
import type { CampaignDay, CampaignDetail, CampaignExits, CampaignValues, Circumstances, LinkFacts, Report } from '@/api/types'
import { levelled } from '@/lib/captions'
import { said } from '@/testing/recordings'
import { firstPrimary, partsOf, reportFigures } from './figures'
import { studyLimits } from './limits'
import { askedText, linksText, listed, methodParagraphs, orderSentence, stopSentence } from './method'
import { conditionRows } from './settings'

const known = (name: 'recorded' | 'competing' | 'running' | 'imported') => ({
  campaign: said<CampaignDetail>(name),
  report: said<Report>(`${name}-report`),
  day: said<CampaignDay>(`${name}-day`),
  around: said<Circumstances>(`${name}-circumstances`),
  links: said<{ items: LinkFacts[] }>(`${name}-links`).items,
})

const text = (name: 'recorded' | 'competing' | 'running' | 'imported') => {
  const { campaign, report, around } = known(name)
  return methodParagraphs(campaign, report, around).flat().join(' ')
}

describe('the method', () => {
  it('is made of the campaign: order, cycles, stop rule, settings, kernels, phases and intervals', () => {
    const found = text('recorded')
    for (const part of [
      'downloads under 2 conditions (HyStart on and HyStart off) were measured over the link geo-viasat',
      'loaded from its archive',
      '3 cycles were planned on each link. A cycle has each condition once, in the order of the file.',
      'A run stopped after 35 s, counted from the first data byte.',
      'Each run had one flow',
      'tried again, up to 2 attempts in all',
      'The hosts ran Linux 6.',
      'Start-up is the first 15 s of a run, steady state its last 5 s',
      "95 % intervals of Student's t",
      'Each condition is compared with HyStart on, cycle by cycle',
      'asks about throughput in start-up and throughput in steady state. These alone are tested',
      `version ${known('recorded').report.analysis_version} of Downlink's analysis`,
    ])
      expect(found).toContain(part)
    expect(found).not.toMatch(/undefined|null|NaN/)
  })

  it('says that flows shared the link, and of imported files only what they say', () => {
    expect(text('competing')).toContain('In each run several flows shared the link and began together.')
    const imported = text('imported')
    expect(imported).toContain('measured with other tools')
    expect(imported).not.toContain('hosts were set')
  })

  it('says how runs followed each other over hours, in a drawn order', () => {
    const { spec } = said<CampaignDetail>('recorded')
    const timetable = { ...spec.timetable, cycles: null, duration_h: 24, every_s: 405, order: 'shuffled' as const, seed: 7 }
    expect(orderSentence({ ...spec, timetable })).toBe(
      'For 24 h a run was planned every 6 min 45 s on each link, cycle after cycle. A cycle has each condition once, in an order drawn separately for each cycle (seed 7).',
    )
    const until = { metric: 'throughput_bps', phase: 'steady', flow: 1, half_width_percent: 5, most_cycles: 60 }
    expect(orderSentence({ ...spec, until, timetable: { ...spec.timetable, cycles: null, pause_s: 30 } })).toBe(
      'Cycles went on, 30 s apart, until throughput in steady state was known within ± 5 % of the mean for every condition on every link, by a confidence sequence that holds at every look, or 60 cycles had run. A cycle has each condition once, in the order of the file.',
    )
    const [first, second] = spec.conditions
    if (!first || !second) throw new Error('two conditions are recorded')
    const conditions = [first, { ...second, stop: { seconds: null, bytes: 80_000_000 } }]
    expect(stopSentence({ ...spec, conditions })).toBe(
      'When a run stopped depended on its condition: HyStart on: after 35 s, counted from the first data byte; HyStart off: when each flow had sent 80.0 MB.',
    )
  })

  it('joins names as sentences do', () => {
    expect([listed([]), listed(['a']), listed(['a', 'b']), listed(['a', 'b', 'c'])]).toEqual(['', 'a', 'a and b', 'a, b and c'])
    expect(linksText(['geo', 'leo'])).toBe('the links geo and leo')
    expect([askedText('steady.rtt_ms'), askedText('lead.throughput_bps'), askedText('time_to_steady_s')]).toEqual([
      'RTT in steady state',
      'throughput in the window “lead”',
      'time to steady state',
    ])
  })
})

describe('the limits of the study', () => {
  it('name few runs, tests that cannot be, and emulated links', () => {
    const found = studyLimits(known('recorded')).join('\n')
    expect(found).toContain('Some conditions have 3 runs')
    expect(found).toContain('3 cycles cannot show a difference at 5 %, however large it is: the test takes 6.')
    expect(found).toContain('The link geo-viasat is emulated')
    expect(found).not.toContain('failed')
  })

  it('name what could not be set, what ran instead, and hosts that were not put back', () => {
    const around: Circumstances = {
      ...known('recorded').around,
      unset: [{ roles: ['sender'], name: 'net.ipv4.tcp_wmem', asked: '1 2 3', found: '1 2 2', runs: 2 }],
      flows: [
        { asked_cc: 'bbr', actual_cc: 'cubic', sampling: 'polled', flows: 1 },
        { asked_cc: 'probe', actual_cc: 'probe', sampling: 'polled', flows: 6 },
      ],
      not_restored: 1,
    }
    const one = known('recorded')
    const perAck = { ...one.campaign, spec: { ...one.campaign.spec, sampling: 'per_ack' as const } }
    const found = studyLimits({ ...one, campaign: perAck, around })
    expect(found).toContain('net.ipv4.tcp_wmem was asked to be 1 2 3 at the sender, and was 1 2 2 in 2 runs.')
    expect(found).toContain('1 flow asked for bbr and ran cubic.')
    expect(found).toContain('1 flow could not be recorded by every ACK and was polled.')
    expect(found.join()).not.toContain('probe')
    expect(found.join()).toContain('After 1 run a host’s settings differed from before')
  })

  it('count failed and missed runs, and say that a campaign goes on', () => {
    const one = known('recorded')
    const campaign = {
      ...one.campaign,
      state: 'running' as const,
      runs_ended: 4,
      counts: { ...one.campaign.counts, complete: 3, failed: 1, missed: 2 },
    }
    const found = studyLimits({ ...one, campaign })
    expect(found).toContain('The campaign has not ended: 4 of 6 planned runs have. These statements may change.')
    expect(found.join()).toContain('Of 6 attempts, 1 failed and 2 were missed. They are in no mean')
  })

  it('say of a real link how short the study was, and nothing of the kind over a day', () => {
    const one = known('recorded')
    const links = one.links.map((link) => ({ ...link, is_emulated: false }))
    expect(studyLimits({ ...one, links }).join()).toMatch(/All runs over the link geo-viasat lie within 4 min/)
    const day = { ...one.day, to_at: '2027-01-01T00:00:00Z' }
    expect(studyLimits({ ...one, links, day }).join()).not.toContain('lie within')
    const first = { ...one.day, total: one.day.runs.length + 1 }
    const ends = (ended_at: string | null) => studyLimits({ ...one, campaign: { ...one.campaign, ended_at }, links, day: first }).join()
    expect(ends(null)).not.toContain('lie within')
    expect(ends('2037-01-01T00:00:00Z')).not.toContain('lie within')
    expect(ends(new Date(Date.parse(one.day.from_at ?? '') + 7_200_000).toISOString())).toContain('lie within 2 h')
  })
})

describe('the figures', () => {
  const figuresOf = (name: 'recorded' | 'competing') => {
    const one = known(name)
    const exits = said<CampaignExits>(`${name}-exits`)
    return reportFigures({ ...one, exits, values: said<CampaignValues>(`${name}-values`), links: levelled(one.links) })
  }

  it('are those that the campaign has something for, each with n, method and link in its caption', () => {
    const found = figuresOf('recorded')
    expect(found.map(({ title }) => title)).toEqual(
      expect.arrayContaining(['Throughput, RTT and windows over time', 'Throughput, start-up: every run', 'Object download time']),
    )
    for (const { caption } of found) {
      expect(caption).toMatch(/n = 3/)
      expect(caption).toContain('Campaign “Demo: HyStart on and off”')
    }
    expect(found[0]?.caption).toContain('Link geo-viasat: nominal rate 144 Mb/s')
    expect(figuresOf('competing').map(({ title }) => title)).toContain('Shares of the link')
  })

  it('of many columns come in parts of about as many each, all of them once', () => {
    const [stack] = figuresOf('recorded')
    const [column] = stack?.columns ?? []
    if (!stack || !column) throw new Error('there is a stack')
    const many = { ...stack, columns: Array.from({ length: 6 }, (_, index) => ({ ...column, title: `${index}` })) }
    expect(partsOf(many).map(({ columns }) => columns.map(({ title }) => title))).toEqual([
      ['0', '1', '2'],
      ['3', '4', '5'],
    ])
    expect(partsOf(stack)).toEqual([stack])
  })

  it('of distributions show what was declared first', () => {
    expect(firstPrimary({ primary_metrics: ['steady.rtt_ms'] })).toEqual({ phase: 'steady', metric: 'rtt_ms' })
    expect(firstPrimary({ primary_metrics: ['time_to_steady_s'] })).toEqual({ phase: 'overall', metric: 'time_to_steady_s' })
  })
})

it('settings that all conditions share stand once, the others by condition', () => {
  const { rows, shared } = conditionRows(said<CampaignDetail>('recorded').spec)
  expect(rows.map(({ name, sender }) => [name, sender])).toEqual([
    ['HyStart on', 'tcp_cubic.hystart = 1'],
    ['HyStart off', 'tcp_cubic.hystart = 0'],
  ])
  expect(shared.sender).toContain('net.ipv4.tcp_wmem = 4096 16384 60000000')
  expect(shared.receiver).toContain('net.ipv4.tcp_rmem')
})
