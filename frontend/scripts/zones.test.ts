import { describe, expect, it } from 'vitest'
import { violations } from './zones.mjs'

const importing = (file: string, target: string) => violations([[file, `import { a } from '${target}'`]])

describe('walls between rooms', () => {
  it.each([
    ['features/statistics/TestsPanel.tsx', '@/features/results/campaign/series'],
    ['features/exits/campaign/ExitsTab.tsx', '../../plan/wording'],
    ['charts/Frame.tsx', '@/api/client'],
    ['lib/format.ts', '@/ui/Panel'],
    ['ui/Panel.tsx', '../features/runs/RunsTab'],
    ['features/runs/RunsTab.tsx', '@/app/pages/RunPage'],
    ['features/runs/RunsTab.tsx', '@/testing/network'],
  ])('%s may not import %s', (file, target) => expect(importing(file, target)).toHaveLength(1))

  it.each([
    ['features/runs/RunsTab.tsx', './queries'],
    ['features/exits/sweeps/layout.ts', '../campaign/groups'],
    ['app/pages/RunPage.tsx', '@/features/runs/queries'],
    ['features/runs/runs.test.tsx', '@/testing/network'],
    ['ui/QueryPanel.tsx', '@/api/problem'],
    ['features/runs/RunsTab.tsx', '@mantine/core'],
  ])('%s may import %s', (file, target) => expect(importing(file, target)).toEqual([]))

  it('sees lazy imports and re-exports', () => {
    expect(violations([['lib/a.ts', "const b = import('@/app/b')\nexport { c } from '@/ui/c'"]])).toHaveLength(2)
  })
})
