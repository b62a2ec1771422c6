import { Text } from '@mantine/core'
import { CursorSlider } from '@/charts/CursorSlider'
import { CurveChart, cursorStep } from '@/charts/CurveChart'
import { CurveTable } from '@/charts/CurveTable'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import type { Source } from '@/lib/captions'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import classes from './exits.module.css'
import { exitsFigure } from './figures'
import { exitDistributions, type LookedAt } from './groups'

const HEIGHT = 280
const REACH = [0, 100] as const

/** When each detector would have left slow start: the share of its decidable runs, over time. */
export function DistributionPanel({ shown, group, source }: { shown: LookedAt[]; group: string; source: Source }) {
  const { x, curves, to } = exitDistributions(shown)
  const shared = { x, curves, from: 0, to, factor: 1 }
  return (
    <Panel
      title="Exit times"
      description="Cumulative share of the decidable runs. A line that ends below 100 % belongs to a rule that never fired in the other runs."
      isFlush
    >
      {curves.length === 0 ? (
        <Empty title="No detector chosen">Switch one on above.</Empty>
      ) : (
        <CursorProvider>
          <div className={classes.stack}>
            <CursorSlider from={0} to={to} unit="s" step={cursorStep(0, to)} />
            <Frame
              title="Exited by then"
              unit="% of decidable runs"
              height={HEIGHT}
              table={() => <CurveTable caption="Exited by then, % of decidable runs" xLabel="s" {...shared} />}
              figure={() => exitsFigure(shown, group, source)}
            >
              {(width) => <CurveChart {...shared} {...{ width }} height={HEIGHT} reach={REACH} hasTimeAxis isStepped />}
            </Frame>
            <Text size="xs" c="dimmed" ta="center" pb="sm">
              Seconds since each flow's first data byte
            </Text>
          </div>
        </CursorProvider>
      )}
    </Panel>
  )
}
