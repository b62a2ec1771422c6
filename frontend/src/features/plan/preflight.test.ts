import { describe, expect, it } from 'vitest'
import type { HostAnswer } from '@/api/types'
import { CHECKS, countText, LEVELS } from './preflight'

const answer = (level: HostAnswer['level']): HostAnswer => ({
  check: 'disk',
  level,
  sentence: '',
  todo: '',
  at: null,
  run_id: null,
  quick_test: null,
})

describe('the pre-flight in short', () => {
  it('counts what is not as asked', () => {
    expect(countText([answer('ok')])).toBe('all is as asked')
    expect(countText([answer('bad'), answer('note'), answer('note'), answer('unknown'), answer('ok')])).toBe(
      '1 fails, 2 to look at, 1 not known yet',
    )
    expect(countText([answer('bad'), answer('bad')])).toBe('2 fail')
  })

  it('has a sign of its own for each level, and a title for each check', () => {
    expect(new Set(Object.values(LEVELS).map(({ sign }) => sign)).size).toBe(4)
    expect(Object.values(CHECKS).every((title) => title.length > 0)).toBe(true)
  })
})
