import { Text } from '@mantine/core'
import type { Comparison } from '@/api/types'
import { isShown, readingText } from '@/lib/comparisons'
import { formatNumber } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { StackedTable } from '@/ui/StackedTable'
import { formatP, pairName, primaryTitle, shapeText, THE_LINK } from './measures'

const HEADS = ['Metric', 'Compared', 'Cycles', 'Level, p', 'Reading', 'KS distance', 'Shape, p', 'Shape']

interface TestsPanelProps {
  comparisons: readonly Comparison[]
  primary: readonly string[]
  link: string
  flow: number
  /** The baseline was chosen here, and is not the campaign's own. */
  isChosen: boolean
}

const nameOf = ({ phase, metric }: Comparison) => (metric.startsWith('time_to_') ? metric : `${phase}.${metric}`)

/** The tests of the campaign's primary metrics; what so few cycles cannot show is no test, and said in words. */
export function TestsPanel({ comparisons, primary, link, flow, isChosen }: TestsPanelProps) {
  const own = comparisons
    .filter((one) => one.is_primary && one.link === link && (one.flow === flow || one.flow === THE_LINK))
    .sort((a, b) => primary.indexOf(nameOf(a)) - primary.indexOf(nameOf(b)))
  const tested = own.filter(({ level_p, shape_p }) => level_p !== null || shape_p !== null)
  const needed = Math.max(0, ...own.map(({ cycles_for_test }) => cycles_for_test ?? 0))
  const family = Math.max(0, ...own.map((one) => one.family ?? 0))
  const most = Math.max(0, ...own.map(({ difference }) => difference.n))
  return (
    <Panel
      title="Tests of the primary metrics"
      description={`What the campaign asks about: ${primary.map(primaryTitle).join('; ')}. Level: paired sign-flip test over cycles. Shape: Kolmogorov-Smirnov; its distance is the largest gap between the cumulative distributions, 0 to 1. ${family > 1 ? `p values are corrected (Holm) over the ${family} ${isChosen ? 'pairs of conditions, since any of them might have been chosen' : 'comparisons of a metric'}; at` : 'At'} 0.05 or below a difference is shown.`}
      isFlush
    >
      {most < needed ? (
        <Text size="sm" px="md" pb="md">
          {most === 1 ? 'One cycle' : `${most} cycles`} cannot show a difference of levels at 5 %, however large it is: that takes {needed}.
          The differences above have no test.
        </Text>
      ) : null}
      {tested.length > 0 ? <Tests tested={tested} /> : null}
    </Panel>
  )
}

function Tests({ tested }: { tested: readonly Comparison[] }) {
  return (
    <StackedTable
      label="Tests of the primary metrics"
      heads={HEADS}
      rows={tested.map((one) => ({
        key: `${one.condition} ${nameOf(one)}`,
        cells: [
          primaryTitle(nameOf(one)),
          pairName(one),
          one.difference.n,
          one.level_p === null ? 'too few cycles' : formatP(one.level_p),
          isShown(one) ? <strong key="reading">{readingText(one)}</strong> : readingText(one),
          formatNumber(one.ks_distance, 2),
          formatP(one.shape_p),
          shapeText(one),
        ],
      }))}
    />
  )
}
