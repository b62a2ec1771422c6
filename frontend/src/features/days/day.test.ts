import { describe, expect, it } from 'vitest'
import type { CampaignDay, DayRun } from '@/api/types'
import { secondsOf } from '@/charts/clock'
import { dayShapes } from '@/charts/dayShapes'
import { figureCsv, figureSvg } from '@/charts/figure'
import { SCREEN } from '@/charts/plot'
import type { Shape } from '@/charts/scene'
import { said } from '@/testing/recordings'
import { endedBadly, metricOf, stripsOf } from './day'
import { dayFigure, stripBoxes } from './figures'

const START = secondsOf('2026-01-02T12:00:00Z')

function run(cycle: number, change: Partial<DayRun> = {}): DayRun {
  const minutes = cycle * 5 + (change.condition === 'off' ? 2 : 0)
  return {
    id: `${change.condition ?? 'on'}-${cycle}-${change.attempt ?? 1}`,
    link: 'geo',
    condition: 'on',
    cycle,
    attempt: 1,
    state: 'complete',
    reason: null,
    detail: null,
    at: new Date((START + minutes * 60) * 1000).toISOString(),
    ended_at: null,
    values: [{ flow: 1, cc: 'cubic', value: cycle * 1e6 }],
    ...change,
  }
}

const failed: Partial<DayRun> = { state: 'failed', reason: 'link_lost', detail: 'The link was lost.', values: [] }

function dayOf(runs: DayRun[]): CampaignDay {
  const moments = runs.map(({ at }) => at).sort()
  const nights = [{ from_at: '2026-01-02T12:30:00Z', to_at: '2026-01-02T13:00:00Z' }]
  return {
    campaign_id: 'c',
    phase: 'overall',
    metric: 'throughput_bps',
    from_at: moments[0] ?? null,
    to_at: moments.at(-1) ?? null,
    total: runs.length,
    annotations: [],
    links: [{ link: 'geo', time_zone: 'Europe/Madrid', nights }],
    runs,
  }
}

const stripOf = (runs: DayRun[], conditions = ['on', 'off']) => {
  const [strip] = stripsOf(dayOf(runs), conditions)
  if (!strip) throw new Error('no strip')
  return strip
}

const cycles = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const idsOf = (runs: DayRun[]) => stripOf(runs).lines.map(({ stretches }) => stretches.map((points) => points.map(({ id }) => id)))

describe('the line of a condition', () => {
  it('joins runs of cycles that follow each other, across the runs of other conditions', () => {
    const runs = cycles(3).flatMap((cycle) => [run(cycle), run(cycle, { condition: 'off' })])
    expect(idsOf(runs)).toEqual([[['on-1-1', 'on-2-1', 'on-3-1']], [['off-1-1', 'off-2-1', 'off-3-1']]])
  })

  it('has a gap where a cycle has no value, and none where a failed run was tried again', () => {
    const retried = [run(1), run(2, { ...failed }), run(2, { attempt: 2 }), run(3)]
    expect(idsOf(retried)).toEqual([[['on-1-1', 'on-2-2', 'on-3-1']]])
    expect(idsOf([run(1), run(2, { ...failed }), run(3)])).toEqual([[['on-1-1'], ['on-3-1']]])
  })

  it('has a gap where hours lie between two cycles', () => {
    const late = run(4, { at: new Date((START + 6 * 3600) * 1000).toISOString() })
    expect(idsOf([run(1), run(2), run(3), late])).toEqual([[['on-1-1', 'on-2-1', 'on-3-1'], ['on-4-1']]])
  })

  it('is one for each flow where flows compete', () => {
    const values = [
      { flow: 1, cc: 'cubic', value: 1 },
      { flow: 2, cc: 'bbr', value: 2 },
    ]
    expect(stripOf([run(1, { values })]).counts.map(({ label }) => label)).toEqual(['on: cubic (flow 1)', 'on: bbr (flow 2)'])
  })
})

describe('a strip', () => {
  it('has every run once: as a point, or as a sign of what became of it', () => {
    const runs = [
      run(1),
      run(2, { ...failed }),
      run(3, { ...failed, state: 'missed' }),
      run(4, { values: [] }),
      run(5, { state: 'planned', values: [] }),
      run(6, { state: 'running', values: [] }),
      run(7, { ...failed, state: 'cancelled' }),
      run(8, { state: 'incomplete' }),
    ]
    const { lines, rows } = stripOf(runs)
    const drawn = [
      ...lines.flatMap(({ stretches }) => stretches.flat().map(({ id }) => id)),
      ...rows.flatMap(({ marks }) => marks.map(({ id }) => id)),
    ]
    expect(drawn.sort()).toEqual(runs.map(({ id }) => id).sort())
    expect(rows.map(({ label }) => label)).toEqual([
      'failed (1)',
      'missed (1)',
      'incomplete (1)',
      'cancelled (1)',
      'complete, without this value (1)',
      'under way (1)',
      'to come (1)',
    ])
    expect(endedBadly(runs).map(({ state }) => state)).toEqual(['failed', 'missed', 'cancelled', 'incomplete'])
  })

  it('of up to four lines has one plot, of more a plot for each, with one axis', () => {
    const names = cycles(5).map((index) => `c${index}`)
    const runs = names.map((condition, index) => run(1, { id: condition, condition, values: [{ flow: 1, cc: 'cubic', value: index + 1 }] }))
    const strip = stripOf(runs, names)
    expect(strip.plots.map((lines) => lines.length)).toEqual([1, 1, 1, 1, 1])
    expect(new Set(stripBoxes(strip, 1).plots.map(({ most }) => most))).toEqual(new Set([5]))
    expect(stripOf(runs.slice(0, 4), names.slice(0, 4)).plots).toHaveLength(1)
  })

  it('keeps the colour of a condition for its failed runs', () => {
    const { rows } = stripOf([run(1), run(1, { condition: 'off' }), run(2, { condition: 'off', ...failed })])
    expect(rows[0]?.marks[0]?.style).toBe(1)
  })

  it('of a campaign without runs is none', () => {
    expect(stripsOf({ ...dayOf([]), from_at: null, to_at: null }, ['on'])).toEqual([])
  })
})

const flat = (shapes: readonly Shape[]): Shape[] => shapes.flatMap((shape) => (shape.is === 'clip' ? flat(shape.shapes) : [shape]))

it('a plot has a sign for each run at its place, and its nights behind them', () => {
  const strip = stripOf(cycles(20).map((cycle) => run(cycle)))
  const [plot] = stripBoxes(strip, 1e-6).plots
  if (!plot) throw new Error('no plot')
  const shapes = flat(dayShapes({ ...plot, width: 640, height: 200, look: SCREEN }))
  const dots = shapes.filter((shape) => shape.is === 'dot')
  expect(dots).toHaveLength(20)
  expect(dots.map(({ x }) => x)).toEqual(dots.map(({ x }) => x).sort((a, b) => a - b))
  // 20 Mb/s is the largest, at the top of an axis from 0 to 20.
  expect(dots.at(-1)?.y).toBeCloseTo(SCREEN.margin.top)
  expect(shapes.filter((shape) => shape.is === 'path' && shape.fill === 'chart-night')).toHaveLength(1)
})

describe('annotations', () => {
  const at = (minute: number) => new Date((START + minute * 60) * 1000).toISOString()
  const base = { id: 'a', campaign_id: 'c', link: null, kind: 'weather' as const, text: 'Rain.', to_at: null, created_at: at(0) }
  const annotations = [
    { ...base, from_at: at(6), to_at: at(9) },
    { ...base, id: 'b', link: 'leo', text: 'Elsewhere', from_at: at(7) },
    { ...base, id: 'd', link: 'geo', text: 'Dish moved', from_at: at(8) },
  ]
  const day = { ...dayOf(cycles(4).map((cycle) => run(cycle))), annotations }

  it('stand in the strips of their link, by their number in the list', () => {
    expect(stripsOf(day, ['on'])[0]?.notes.map(({ number }) => number)).toEqual([1, 3])
  })

  it('are numbers above the first plot, and sentences in the caption', () => {
    const figure = dayFigure({ day, conditions: ['on'], metric: metricOf('throughput_bps'), link: 'geo', source: { campaign: 'A day' } })
    const svg = figureSvg(figure, { width: 'double' })
    expect(svg).toMatch(/1: Rain \(2 Jan, 12:06 to 2 Jan, 12:09\)\. 3: Dish moved \(2 Jan, 12:08\)\./)
    expect(svg).toMatch(/font-weight="[^"]+"[^>]*>3</)
    expect(svg).not.toContain('Elsewhere')
  })
})

describe('a saved strip', () => {
  const metric = metricOf('throughput_bps')
  const runs = [run(1), run(2, { ...failed }), run(3), run(3, { condition: 'off' })]
  const figure = dayFigure({ day: dayOf(runs), conditions: ['on', 'off'], metric, link: null, source: { campaign: 'A day' } })

  it('says what is shaded, where it has gaps, and how many runs it has', () => {
    const svg = figureSvg(figure, { width: 'double' })
    expect(svg).toMatch(/Throughput of each run, phase “Overall”/)
    expect(svg).toMatch(/night, 22:00 to 06:00 in Europe\/Madrid/)
    expect(svg).toMatch(/n = 2 \(on\), 1 \(off\) runs\./)
    expect(svg).toMatch(/>failed \(1\)</)
    expect(svg).not.toMatch(/NaN|undefined|Infinity/)
  })

  it('says as CSV every run, failed ones with their reason', () => {
    const [heads = '', ...rows] = figureCsv(figure).trimEnd().split('\r\n')
    expect(heads).toBe('Link,Condition,Flow,Cycle,Attempt,Time (UTC),State,Reason,Detail,"Throughput, Overall (Mb/s)",Run')
    expect(rows).toHaveLength(4)
    expect(rows[1]).toContain('failed,link_lost,The link was lost.,,on-2-1')
  })

  it('that cannot be drawn says why', () => {
    const asked = { conditions: ['on'], metric, source: { campaign: 'A day' } }
    expect(() => dayFigure({ ...asked, day: dayOf([]), link: null })).toThrow(/no runs yet/)
    expect(() => dayFigure({ ...asked, day: dayOf(runs), link: 'moon' })).toThrow('There is no link moon in the campaign; there are: geo.')
  })

  it('of a real campaign has its failed run', () => {
    const day = said<CampaignDay>('running-day')
    const svg = figureSvg(dayFigure({ day, conditions: ['HyStart on', 'HyStart off'], metric, link: null, source: { campaign: 'now' } }), {
      width: 'single',
    })
    expect(svg).toMatch(/>failed \(1\)</)
    expect(svg).toMatch(/>to come \(/)
  })
})
