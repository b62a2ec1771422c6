import { describe, expect, it } from 'vitest'
import { violations } from './zones.mjs'

const importing = (file: string, target: string) => violations([[file, `import { a } from '${target}'`]])

describe('walls between rooms', () => {
  it.each([
    ['features/runs/RunPage.tsx', '@/features/campaigns/queries'],
    ['features/runs/RunPage.tsx', '../campaigns/queries'],
    ['charts/Frame.tsx', '@/api/client'],
    ['lib/format.ts', '@/ui/Panel'],
    ['ui/Panel.tsx', '../features/runs/RunPage'],
    ['features/runs/RunPage.tsx', '@/app/router'],
    ['features/runs/RunPage.tsx', '@/testing/network'],
  ])('%s may not import %s', (file, target) => expect(importing(file, target)).toHaveLength(1))

  it.each([
    ['features/runs/RunPage.tsx', './queries'],
    ['features/campaigns/results/Readout.tsx', '../queries'],
    ['app/router.tsx', '@/features/runs/search'],
    ['features/runs/RunPage.test.tsx', '@/testing/network'],
    ['ui/QueryPanel.tsx', '@/api/problem'],
    ['features/runs/RunPage.tsx', '@mantine/core'],
  ])('%s may import %s', (file, target) => expect(importing(file, target)).toEqual([]))

  it('sees lazy imports and re-exports', () => {
    expect(violations([['lib/a.ts', "const b = import('@/app/b')\nexport { c } from '@/ui/c'"]])).toHaveLength(2)
  })
})
