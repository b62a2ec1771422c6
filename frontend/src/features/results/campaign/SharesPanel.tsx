import type { Fairness } from '@/api/types'
import { HeatMap } from '@/charts/HeatMap'
import { SaveMenu } from '@/charts/SaveMenu'
import type { Source } from '@/lib/captions'
import { loadTwice } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import classes from './results.module.css'
import { shareGrids } from './shares'

const loadFigures = () => loadTwice(() => import('./figures'))

/** How flows shared the link, a cell per condition and phase: Zhao 2022's Figures 7a and 7b. */
export function SharesPanel({ fairness, source }: { fairness: readonly Fairness[]; source: Source }) {
  if (fairness.length === 0) return null
  const { jain, difference } = shareGrids(fairness)
  return (
    <Panel
      title="Shares of the link"
      description="Jain's index is that of the conditions' mean throughputs. The difference is flow 1 minus flow 2: blue where flow 1 got more, red where flow 2 did (Zhao 2022, Figure 7)."
      actions={<SaveMenu what="Shares of the link" figure={async () => (await loadFigures()).sharesFigure(fairness, source)} />}
    >
      <div className={classes.heats}>
        <HeatMap {...jain} />
        <HeatMap {...difference} />
      </div>
    </Panel>
  )
}
