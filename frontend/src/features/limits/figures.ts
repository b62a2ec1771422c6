import type { FlowLimits, LimitGroup, Run } from '@/api/types'
import type { Figure } from '@/charts/figure'
import { barsPanel, sharePanel } from '@/charts/panels'
import type { Cell } from '@/charts/table'
import { captionOf, countSentence, fileName } from '@/lib/captions'
import { LIMITS } from '@/lib/quantities'
import { runSentence } from '@/lib/runs'

const legend = LIMITS.map(({ title }, layer) => ({ label: title, layer }))
const PERCENT = 100
const percent = (ratio: number | null | undefined): Cell => (ratio == null ? null : ratio * PERCENT)

export const groupTitle = (group: LimitGroup, all: readonly LimitGroup[]) =>
  all.filter(({ condition }) => condition === group.condition).length > 1
    ? `${group.condition} ${group.cc} (flow ${group.flow})`
    : group.condition

/** What held the flows of each condition. */
export function limitsFigure(groups: readonly LimitGroup[], campaign: string): Figure {
  const rows = groups.map((group) => ({ label: groupTitle(group, groups), shares: LIMITS.map(({ name }) => group.shares[name].mean) }))
  const heads = LIMITS.flatMap(({ title }) => ['', ' low', ' high'].map((end) => `${title}${end} (% of time)`))
  return {
    file: fileName(campaign, groups[0]?.link, 'limits'),
    title: 'What limited the flows',
    columns: [{ panels: [barsPanel('What limited the flows (% of time)', rows)] }],
    legend,
    caption: captionOf(
      "Share of a flow's time limited by each window, the send buffer or the application, by the kernel's own counters: mean over runs.",
      countSentence(groups.map((group, index) => ({ label: rows[index]?.label ?? '', n: group.runs }))),
      `Link ${groups[0]?.link}. Campaign “${campaign}”.`,
    ),
    table: {
      heads: ['Series', ...heads, 'n'],
      rows: groups.map((group, index): Cell[] => [
        rows[index]?.label ?? '',
        ...LIMITS.flatMap(({ name }) => {
          const { mean, low, high } = group.shares[name]
          return [mean, low, high].map(percent)
        }),
        group.runs,
      ]),
    },
  }
}

/** What held one flow, second by second. */
export function secondsFigure(run: Run, flow: FlowLimits, from: number, to: number): Figure {
  const { bin_s } = flow.seconds
  const layers = LIMITS.map(({ name }) => flow.seconds[name])
  const title = `Flow ${flow.flow}: ${flow.cc}`
  return {
    file: fileName('run', run.condition, `cycle ${run.cycle}`, `flow ${flow.flow}`, 'limits'),
    title,
    columns: [{ panels: [sharePanel({ title, unit: 'share of each second' }, { x: bin_s, layers, from, to })] }],
    legend,
    xTitle: "Seconds since the flow's first data byte",
    caption: captionOf("What limited the flow in each second, from the kernel's counters (n = 1).", runSentence(run)),
    table: {
      heads: ['Time (s)', ...LIMITS.map(({ title: own }) => `${own} (% of the second)`)],
      rows: bin_s.map((at, index): Cell[] => [at, ...layers.map((layer) => percent(layer[index]))]),
    },
  }
}
