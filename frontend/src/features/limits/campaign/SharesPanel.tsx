import { Group } from '@mantine/core'
import type { LimitGroup } from '@/api/types'
import { LayerSwatch } from '@/charts/layers'
import { SaveMenu } from '@/charts/SaveMenu'
import { ShareBar } from '@/charts/ShareBar'
import { formatEstimate } from '@/lib/format'
import { LIMITS } from '@/lib/quantities'
import { Panel } from '@/ui/Panel'
import { StackedTable } from '@/ui/StackedTable'
import { limitsFigure } from '../figures'

/** Shares of time per condition: bars with their numbers. */
export function SharesPanel({ groups, campaign }: { groups: readonly LimitGroup[]; campaign: string }) {
  const isShared = (condition: string) => groups.filter((group) => group.condition === condition).length > 1
  return (
    <Panel
      title="What limited the flows"
      description="Share of a flow's time limited by each window, the send buffer or the application: mean over runs with its 95 % confidence interval, in percent."
      isFlush
      actions={<SaveMenu what="What limited the flows" figure={() => limitsFigure(groups, campaign)} />}
    >
      <Group component="p" gap="4px 20px" fz="sm" m={0} px="md" pb={6}>
        {LIMITS.map(({ name, title }, layer) => (
          <span key={name}>
            <LayerSwatch layer={layer} />
            {title}
          </span>
        ))}
      </Group>
      <StackedTable
        label="What limited the flows"
        heads={['Condition', 'Shares', ...LIMITS.map(({ title }) => title), 'Runs']}
        whole={['Shares']}
        rows={groups.map(({ condition, flow, cc, shares, runs }) => ({
          key: `${condition} ${flow}`,
          cells: [
            isShared(condition) ? `${condition} ${cc} (flow ${flow})` : condition,
            <ShareBar key="bar" shares={LIMITS.map(({ name }) => shares[name].mean)} />,
            ...LIMITS.map(({ name }) => formatEstimate(shares[name], 100, 1)),
            runs,
          ],
        }))}
      />
    </Panel>
  )
}
