import { describe, expect, it } from 'vitest'
import type {
  CampaignDay,
  CampaignDelays,
  CampaignDetail,
  CampaignExits,
  CampaignRates,
  CampaignReproduction,
  CampaignValues,
  Link,
  Report,
} from '@/api/types'
import { said } from '@/testing/recordings'
import { draw, type FigureRequest } from './figures'

function request(name: 'recorded' | 'competing' | 'acks', change: Partial<FigureRequest>): FigureRequest {
  return {
    kind: 'stack',
    format: 'svg',
    width: 'double',
    hasCaption: true,
    link: null,
    condition: null,
    campaign: said<CampaignDetail>(name),
    report: said<Report>(`${name}-report`),
    exits: said<CampaignExits>(`${name}-exits`),
    values: said<CampaignValues>(`${name}-values`),
    day: said<CampaignDay>(`${name}-day`),
    delays: said<CampaignDelays>(`${name}-delays`),
    rates: said<CampaignRates>(`${name}-rates`),
    links: said<{ items: Link[] }>('links').items,
    ...change,
  }
}

describe('the figures of the command line', () => {
  it('have every quantity of the stack, the single runs of few, and n, method and link in the caption', () => {
    const svg = draw(request('recorded', {}))
    for (const title of ['Throughput (Mb/s)', 'RTT (ms)', 'Receive window (MB)', 'Congestion window (MB)'])
      expect(svg).toContain(`>${title}<`)
    expect(svg).toContain('data-role="run"')
    expect(svg).toMatch(/<desc>.*the single runs \(thin\).*n = 3 runs of each\. Link /)
    expect(svg).not.toContain('NaN')
  })

  it('say as CSV what they draw', () => {
    const { report } = request('recorded', {})
    const [heads = '', first = ''] = draw(request('recorded', { format: 'csv' })).split('\r\n')
    expect(heads).toMatch(/^Series,Time \(s\),Throughput \(Mb\/s\),Throughput run 1 \(Mb\/s\),/)
    const mean = (report?.groups[0]?.series.throughput_bps.mean[0] ?? 0) * 1e-6
    expect(first.split(',').slice(0, 3)).toEqual([report?.groups[0]?.condition, '0', String(Number(mean.toPrecision(9)))])
  })

  it.each([
    ['heatmap', 'competing', 'Jain&#'],
    ['objects', 'recorded', 'Object download time (s)'],
    ['exits', 'acks', 'Exited by then'],
    ['ecdf', 'recorded', 'Cumulative distribution'],
    ['day', 'recorded', 'Clock time (UTC)'],
    ['delays', 'acks', '% of the blocks'],
    ['rates', 'recorded', '% of the seconds'],
    ['jitter', 'acks', '% of the pairs of seconds'],
  ] as const)('of the kind %s are drawn', (kind, name, words) => {
    const svg = draw(request(name, { kind }))
    expect(svg.includes(words) || svg.includes("Jain's index")).toBe(true)
    expect(svg).not.toMatch(/NaN|undefined|Infinity/)
  })

  it.each([
    ['delays', 'acks', 'one_way_delay_ms', 'ms'],
    ['jitter', 'acks', 'jitter_ms', 'ms'],
    ['rates', 'recorded', 'throughput_bps', 'Mb/s'],
  ] as const)('of the kind %s have what was published of the distribution', (kind, name, metric, unit) => {
    const [found] = said<{ items: CampaignReproduction[] }>('reproductions').items
    const [value] = found?.figures[0]?.values ?? []
    const [group] = said<Report>(`${name}-report`).groups
    const own = { metric, unit, share: 0.8, least: null, most: 12.25, reading: 'inside' as const }
    const whose = { link: group?.link ?? '', condition: group?.condition ?? '', flow: group?.flow ?? 1 }
    const figures = [{ paper: 'P', figure: 'F', values: value ? [{ ...value, ...own, ...whose }] : [] }]
    const asked = { kind, reproduction: found ? { ...found, figures } : null }
    const text = `at most 12.25 ${unit} at 80 %`
    const svg = draw(request(name, asked))
    expect(svg).toMatch(new RegExp(`<text[^>]*>${text}</text>`))
    expect(svg).toContain(`Rings: published values. ${group?.condition}: ${text} (inside).`)
    expect(draw(request(name, { ...asked, format: 'csv' }))).toContain(`"${group?.condition}, published",80,12.25`)
  })

  it('of rates are of the asked one', () => {
    expect(draw(request('recorded', { kind: 'rates', metric: 'goodput_bps' }))).toContain('Goodput of single seconds')
  })

  it('of a distribution as CSV have a line for each run, with its value', () => {
    const { values } = request('recorded', {})
    const [heads = '', ...rows] = draw(request('recorded', { kind: 'ecdf', format: 'csv' }))
      .trim()
      .split('\r\n')
    expect(heads).toBe('Condition,Throughput (Mb/s),Is only the time watched')
    const own = values?.sides.flatMap((side) =>
      side.values.map((value) => [side.condition, Number(((value ?? 0) * 1e-6).toPrecision(9)), 'no'].join(',')),
    )
    expect(rows).toEqual(own)
  })

  it.each([
    [{ kind: 'ecdf' as const, values: null }, /no results yet/],
    [{ kind: 'heatmap' as const }, /no condition here has several flows/],
    [{ link: 'moon' }, /There is no link moon in the results; there are: /],
    [{ report: null }, /no results yet/],
    [{ kind: 'delays' as const }, /deliveries: true/],
    [{ kind: 'rates' as const, rates: null }, /No throughput is known/],
    [{ kind: 'rates' as const, metric: 'rtt_ms' }, /throughput_bps and goodput_bps, and not rtt_ms/],
    [{ kind: 'something newer' as 'stack' }, /draws no figure of the kind something newer/],
    [{ kind: 'jitter' as const }, /deliveries: true/],
    [{ kind: 'exits' as const, condition: 'nothing' }, /no exit times to draw/],
    [{ kind: 'varied' as const }, /varied nothing that is a number/],
  ])('that cannot be drawn say why: %o', (change, sentence) => {
    expect(() => draw(request('recorded', change))).toThrow(sentence)
  })

  it('over what was varied name its values', () => {
    const own = { campaign: said<CampaignDetail>('relayed'), report: said<Report>('relayed-report'), kind: 'varied' as const }
    const svg = draw(request('recorded', { ...own, metric: 'goodput_bps', phase: 'overall' }))
    for (const words of ['>100,000<', '>200,000<', 'Goodput, overall over buffer_bytes']) expect(svg).toContain(words)
    expect(svg).not.toMatch(/NaN|undefined|Infinity/)
    expect(() => draw(request('recorded', { ...own, kind: 'ratios' }))).toThrow(/over what links differ in/)
  })

  it('of many conditions have a column for each', () => {
    const report = said<Report>('recorded-report')
    const [group] = report.groups
    const many = Array.from({ length: 16 }, (_, index) => ({ ...(group as Report['groups'][number]), condition: `Buffer ${index}` }))
    const svg = draw(request('recorded', { report: { ...report, groups: many } }))
    expect(svg.match(/>Buffer \d+</g)).toHaveLength(16)
    expect(svg.match(/>Throughput \(Mb\/s\)</g)).toHaveLength(16)
  })
})
