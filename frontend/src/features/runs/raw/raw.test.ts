import { expect, it } from 'vitest'
import type { RunMoment, SampledField } from '@/api/types'
import { countText, drawnUnit, nearest, panelKeys, pointTitle, sampleText, styleOf } from './fields'
import { flagMarks, MOST_FLAGS, momentsOf, momentText, shadedStretches } from './flags'
import { panned, secondsText, shownSpan, zoomed } from './span'

const WHOLE = { from_s: 0.5, to_s: 36.5 }
const CWND: SampledField = { name: 'cwnd_segments', unit: 'segments', kind: 'gauge', description: 'Congestion window' }

it('zooms around the cursor, and around the middle without one', () => {
  expect(zoomed(WHOLE, WHOLE, 1 / 4, 10)).toEqual({ from_s: 5.5, to_s: 14.5 })
  expect(zoomed(WHOLE, WHOLE, 1 / 4, null)).toEqual({ from_s: 14, to_s: 23 })
  expect(zoomed({ from_s: 10, to_s: 12 }, WHOLE, 1 / 4, 30)).toEqual({ from_s: 10.75, to_s: 11.25 })
})

it('never leaves the run, and never goes finer than the clock of samples', () => {
  expect(zoomed(WHOLE, WHOLE, 1 / 4, 1)).toEqual({ from_s: 0.5, to_s: 9.5 })
  expect(zoomed({ from_s: 30, to_s: 36 }, WHOLE, 4, 36)).toEqual({ from_s: 12.5, to_s: 36.5 })
  expect(zoomed({ from_s: 30, to_s: 36 }, WHOLE, 100)).toEqual(WHOLE)
  expect(zoomed({ from_s: 1, to_s: 1.00002 }, WHOLE, 1 / 4)).toEqual({ from_s: 1, to_s: 1.00002 })
  expect(panned({ from_s: 1, to_s: 3 }, WHOLE, -1 / 2)).toEqual({ from_s: 0.5, to_s: 2.5 })
  expect(panned({ from_s: 1, to_s: 3 }, WHOLE, 1 / 2)).toEqual({ from_s: 2, to_s: 4 })
})

it('an address that asks for no stretch of time shows the whole', () => {
  expect(shownSpan({}, WHOLE)).toEqual(WHOLE)
  expect(shownSpan({ from_s: 2 }, WHOLE)).toEqual({ from_s: 2, to_s: 36.5 })
  expect(shownSpan({ from_s: 4, to_s: 4 }, WHOLE)).toEqual(WHOLE)
})

it('seconds have the digits that the stretch needs', () => {
  expect(secondsText(3.2, WHOLE)).toBe('3.20')
  expect(secondsText(3.2000151, { from_s: 3.2, to_s: 3.2001 })).toBe('3.200015')
})

it('panels are those of the address, each once, by the end at which they were taken', () => {
  const asked = ['receiver.app_bytes', 'sender.rtt_us', 'sender.rtt_us', 'link.down_rate_bps', 'nowhere.rtt_us', 'sender', 'sender.a b']
  expect(panelKeys(asked).map(({ point, name }) => `${point}.${name}`)).toEqual([
    'sender.rtt_us',
    'receiver.app_bytes',
    'link.down_rate_bps',
  ])
  const relayed = [
    'receiver.app_bytes',
    'hop-10.backlog_bytes',
    'link.down_rate_bps',
    'hop-2.backlog_bytes',
    'hop-0.a',
    'hop-x.a',
    'sender.b',
  ]
  expect(panelKeys(relayed).map(({ point }) => point)).toEqual(['sender', 'hop-2', 'hop-10', 'receiver', 'link'])
  expect(panelKeys([...Array(20).keys()].map((at) => `sender.f${at}`))).toHaveLength(12)
})

it('every place has its name and a line of its own', () => {
  const points = ['sender', 'hop-1', 'hop-2', 'receiver', 'link'] as const
  expect(points.map(pointTitle)).toEqual(['At the sender', 'At relay 1', 'At relay 2', 'At the receiver', 'Log of the emulated link'])
  expect(new Set(points.map(styleOf)).size).toBe(points.length)
})

it('says how many of how many samples are drawn', () => {
  const column = { time_us: [...Array(1000).keys()], values: [...Array(1000).keys()] }
  const thinned = { in_span: 76_412, is_thinned: true, missing_chunks: 0 }
  expect(countText(thinned, column)).toBe('1,000 of 76,412 samples, min-max')
  expect(countText({ ...thinned, in_span: 1000, is_thinned: false }, column)).toBe('every sample: 1,000')
  expect(countText({ ...thinned, in_span: 0, is_thinned: false, missing_chunks: 2 }, { time_us: [], values: [] })).toBe(
    'no sample in this stretch; 2 chunks of the trace missing',
  )
})

it('reads the sample nearest to the cursor as it was taken', () => {
  const column = { time_us: [1_000_000, 1_005_000, 1_020_000], values: [10, null, 12_000] }
  expect([0, 1_002_400, 1_002_600, 1_012_500, 9e9].map((at) => nearest(column.time_us, at))).toEqual([0, 0, 1, 1, 2])
  expect(nearest([], 1)).toBeNull()
  expect(sampleText(column, 2, CWND)).toBe('1.020000 s: 12,000 segments')
  expect(sampleText(column, 1, CWND)).toBe('1.005000 s: not set')
  expect(drawnUnit(CWND)).toEqual({ unit: 'segments', factor: 1 })
  expect(drawnUnit({ ...CWND, unit: 'us' }).unit).toBe('ms')
})

const moment = (kind: RunMoment['kind'], at_us: number, rest: Partial<RunMoment> = {}): RunMoment => ({
  kind,
  flow: null,
  way: null,
  at_us,
  until_us: null,
  text: null,
  ...rest,
})

it("flags are a flow's own moments and those of the link, in words too", () => {
  const all = [
    moment('first_byte', 924_000, { flow: 1 }),
    moment('first_byte', 925_000, { flow: 2 }),
    moment('outage', 1_490_000, { way: 'down', until_us: 1_510_000 }),
  ]
  const own = momentsOf(all, 1)
  expect(own.map(momentText)).toEqual(['First byte of flow 1', 'Outage on the way to the receiver'])
  expect(momentText(moment('annotation', 0, { text: 'heavy rain' }))).toBe('Annotation: heavy rain')
  expect(flagMarks(own, WHOLE).map(({ x, code }) => [x, code])).toEqual([
    [0.924, '1st'],
    [1.49, 'out'],
  ])
  expect(flagMarks(own, { from_s: 1, to_s: 2 }).map(({ code }) => code)).toEqual(['out'])
  expect(shadedStretches(own)).toEqual([{ from_s: 1.49, to_s: 1.51 }])
})

it('flags of the link give way where they would hide each other', () => {
  const gaps = [...Array(MOST_FLAGS + 1).keys()].map((at) => moment('handover', at * 1e6, { way: 'up', until_us: at * 1e6 + 1000 }))
  const loss = moment('first_loss', 3_000_000, { flow: 1 })
  expect(flagMarks([...gaps, loss], { from_s: 0, to_s: 100 }).map(({ code }) => code)).toEqual(['loss'])
  expect(flagMarks([...gaps, loss], { from_s: 2.5, to_s: 4.5 }).map(({ code }) => code)).toEqual(['gap', 'gap', 'loss'])
})
