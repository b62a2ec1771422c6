import { Button, Group, SegmentedControl, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { PhaseName } from '@/api/types'
import type { Window } from '@/charts/axes'
import { BandChart } from '@/charts/BandChart'
import { BandTable } from '@/charts/BandTable'
import { CursorSlider } from '@/charts/CursorSlider'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { SaveMenu } from '@/charts/SaveMenu'
import type { LinkLevels, Source } from '@/lib/captions'
import { loadTwice } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import { Readout } from './Readout'
import classes from './results.module.css'
import { SmallMultiples } from './SmallMultiples'
import type { ResultsSearch } from './search'
import { hasChangingN, knownQuantities, type LabelledGroup, lastBin, type StackedQuantity, shownRange } from './series'
import { areFew, chartFacts, isBare, MOST_OVERLAID, noteOf, type Shown } from './stack'

const loadFigures = () => loadTwice(() => import('./figures'))

interface StackPanelProps {
  groups: LabelledGroup[]
  link: LinkLevels | undefined
  source: Source
  /** The phases to shade, of which one can be shown alone. */
  windows: readonly Window[]
  search: ResultsSearch
  onSearch: (change: ResultsSearch) => void
}

/** The stacked, time-aligned charts with their shared cursor and readout. */
export function StackPanel({ groups, link, source, windows, search, onSearch }: StackPanelProps) {
  const hidden = search.hide ?? []
  const hasBands = search.band !== 'off'
  const [from, to] = shownRange(search.range ?? 'all', windows, lastBin(groups))
  const quantities = knownQuantities(groups)
  const visible = groups.filter(({ label }) => !hidden.includes(label))
  const shown = useMemo(() => ({ link, windows, from, to, hasBands }), [link, windows, from, to, hasBands])
  const [picked, setPicked] = useState<string | null>(null)
  const usual = visible.length > MOST_OVERLAID ? 'columns' : 'overlaid'
  const layout = search.layout ?? usual
  const isSplit = layout === 'columns'
  const toggle = (label: string) => {
    const next = hidden.includes(label) ? hidden.filter((one) => one !== label) : [...hidden, label]
    onSearch({ hide: next.length > 0 ? next : undefined })
  }
  return (
    <Panel
      title="Over time"
      description={description(groups, hasBands)}
      isFlush
      actions={
        <Group gap="xs">
          {windows.length > 0 ? (
            <SegmentedControl
              size="xs"
              aria-label="Stretch of time shown"
              value={search.range ?? 'all'}
              onChange={(value) => onSearch({ range: value === 'all' ? undefined : (value as 'startup' | 'steady') })}
              data={[
                { value: 'all', label: 'Whole run' },
                { value: 'startup', label: 'Start-up' },
                ...(windows.length > 1 ? [{ value: 'steady', label: 'Steady state' }] : []),
              ]}
            />
          ) : null}
          {groups.length > 1 ? (
            <SegmentedControl
              size="xs"
              aria-label="Layout of the series"
              value={layout}
              onChange={(value) => onSearch({ layout: value === usual ? undefined : (value as typeof layout) })}
              data={[
                { value: 'overlaid', label: 'In one chart' },
                { value: 'columns', label: 'Side by side' },
              ]}
            />
          ) : null}
          <Button
            size="xs"
            variant={hasBands ? 'light' : 'default'}
            aria-pressed={hasBands}
            onClick={() => onSearch({ band: hasBands ? 'off' : undefined })}
          >
            {areFew(groups) ? 'Single runs' : '95 % CI'}
          </Button>
          <SaveMenu
            what="the whole stack"
            figure={async () => (await loadFigures()).stackFigure({ groups: visible, quantities, shown, source, isSplit })}
          />
        </Group>
      }
    >
      <CursorProvider>
        <Readout
          groups={groups}
          hidden={hidden}
          onToggle={toggle}
          onPick={setPicked}
          windows={windows}
          phase={phaseShown(search.range, windows.length > 1)}
        />
        <div className={classes.stack}>
          <CursorSlider from={from} to={to} unit="s" />
          {isSplit ? (
            <SmallMultiples groups={visible} {...{ quantities, shown, picked }} onPick={setPicked} />
          ) : (
            quantities.map((quantity, index) => (
              <QuantityChart
                key={quantity.name}
                {...{ quantity, shown, source, picked, groups: visible }}
                isFirst={index === 0}
                isLast={index === quantities.length - 1}
              />
            ))
          )}
          <Text size="xs" c="dimmed" ta="center" pb="sm">
            Seconds since the flow's first data byte
          </Text>
        </div>
      </CursorProvider>
    </Panel>
  )
}

/** The phase whose means stand in the readout: the one that is shown, else steady state where all runs have the same. */
function phaseShown(range: ResultsSearch['range'], hasSteady: boolean): PhaseName {
  if (range === 'startup') return 'startup'
  return hasSteady ? 'steady' : 'overall'
}

function description(groups: readonly LabelledGroup[], hasBands: boolean): string {
  const spread = areFew(groups)
    ? ', with each run as a thin line'
    : ', with its 95 % confidence interval (single runs where they are fewer than five)'
  const fewer = hasChangingN(groups) ? ' Runs end at different times: later seconds are means over fewer runs, n is in the readout.' : ''
  return `Mean over runs per second${hasBands ? spread : ''}. Gaps are bins without a sample.${fewer}`
}

interface QuantityChartProps {
  quantity: StackedQuantity
  groups: LabelledGroup[]
  shown: Shown
  source: Source
  /** A series that is picked out in the legend. */
  picked: string | null
  isFirst: boolean
  isLast: boolean
}

function QuantityChart({ quantity, groups, shown, source, picked, isFirst, isLast }: QuantityChartProps) {
  const labels = groups.map(({ label }) => label).join('|')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list of labels stands for the filtered list, which is new at every render
  const facts = useMemo(() => chartFacts(quantity, groups, shown), [labels, groups[0]?.group, quantity, shown])
  const height = (isFirst ? 202 : 132) + (isLast ? 24 : 0)
  const { series, from, to } = facts
  return (
    <Frame
      title={quantity.title}
      unit={quantity.unit}
      note={shown.hasBands && isBare(quantity, groups) ? 'means only: most seconds have no interval' : noteOf(quantity, facts)}
      height={height}
      table={() => (
        <BandTable
          caption={`${quantity.title}, ${quantity.unit}: mean with its 95 % interval`}
          xLabel="s"
          {...{ series, from, to }}
          factor={quantity.factor}
        />
      )}
      figure={async () => (await loadFigures()).stackFigure({ groups, quantities: [quantity], shown, source })}
    >
      {(width) => (
        <BandChart {...facts} {...{ width, height, picked }} windows={shown.windows} hasTimeAxis={isLast} areWindowsNamed={isFirst} />
      )}
    </Frame>
  )
}
