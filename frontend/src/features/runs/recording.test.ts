import { describe, expect, it } from 'vitest'
import { makeRun, makeRuns } from '@/testing/examples'
import { controlName, droppedText, hystartText, samplingText } from './recording'

const [summary] = makeRuns('2026-01-02T03:04:05Z')
const traces = summary ? makeRun(summary).flows[0]?.traces : undefined

it('BBR is told apart by its version', () => {
  expect(controlName('bbr', 3)).toBe('bbr v3')
  expect(controlName('cubic', null)).toBe('cubic')
})

describe('how a flow was recorded', () => {
  it.each([
    ['polled', 'polled, 200 a second'],
    ['per_ack', 'every ACK, 200 a second'],
    [null, null],
  ] as const)('%s: %s', (sampling, says) => {
    expect(traces && samplingText({ sampling, traces })).toBe(says)
  })

  it('only what is missing is a warning', () => {
    expect([null, 0, 1, 1200].map(droppedText)).toEqual([
      null,
      null,
      "1 ACK not recorded: the kernel's buffer was full",
      "1,200 ACKs not recorded: the kernel's buffer was full",
    ])
  })
})

it("HyStart's counters are said in words", () => {
  expect(hystartText(null)).toBeNull()
  expect(hystartText({ train: 0, delay: 0 })).toBe('HyStart ended no slow start')
  expect(hystartText({ train: 1, delay: 0 })).toBe('HyStart ended 1 slow start: 1 by ACK train')
  expect(hystartText({ train: 2, delay: 1 })).toBe('HyStart ended 3 slow starts: 2 by ACK train, 1 by delay')
})
