import { expect, it } from 'vitest'
import type { RunSummary } from '@/api/types'
import { countUnwanted, isOpenToReruns, lastAttempts } from './rerun'

const run = (id: string, cycle: number, attempt: number, state: RunSummary['state']) =>
  ({ id, link: 'geo', cycle, position: 1, attempt, state }) as RunSummary

it('the last attempt at a place counts, in whatever order runs come', () => {
  const runs = [run('b', 1, 2, 'complete'), run('a', 1, 1, 'failed'), run('c', 2, 1, 'missed'), run('d', 3, 1, 'cancelled')]
  expect([...lastAttempts(runs)].sort()).toEqual(['b', 'c', 'd'])
  expect(countUnwanted(runs)).toBe(1)
})

it('only what was measured here and not cancelled is open', () => {
  const states = ['draft', 'running', 'paused', 'complete', 'cancelled'] as const
  expect(states.filter((state) => isOpenToReruns({ origin: 'measured', state }))).toEqual(['running', 'paused', 'complete'])
  expect(states.some((state) => isOpenToReruns({ origin: 'recorded', state }))).toBe(false)
})
