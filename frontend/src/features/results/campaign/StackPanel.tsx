import { Button, Group, SegmentedControl, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { Link, PhaseName, Report } from '@/api/types'
import type { Window } from '@/charts/axes'
import { type AxisFacts, valueAxis } from '@/charts/axis'
import { BandChart } from '@/charts/BandChart'
import { BandTable } from '@/charts/BandTable'
import { CursorSlider } from '@/charts/CursorSlider'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { formatNumber } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { Readout } from './Readout'
import classes from './results.module.css'
import type { ResultsSearch } from './search'
import {
  bandSeries,
  hasChangingN,
  knownQuantities,
  type LabelledGroup,
  lastBin,
  levelOf,
  phaseWindows,
  type StackedQuantity,
  shownRange,
} from './series'

interface StackPanelProps {
  report: Report
  groups: LabelledGroup[]
  link: Link | undefined
  /** Seconds after which every run stops, or null. */
  end_s: number | null
  search: ResultsSearch
  onSearch: (change: ResultsSearch) => void
}

/** The stacked, time-aligned charts with their shared cursor and readout. */
export function StackPanel({ report, groups, link, end_s, search, onSearch }: StackPanelProps) {
  const hidden = search.hide ?? []
  const hasBands = search.band !== 'off'
  const windows = useMemo(() => phaseWindows(report.phases, end_s), [report.phases, end_s])
  const [from, to] = shownRange(search.range ?? 'all', windows, lastBin(groups))
  const quantities = knownQuantities(groups)
  const shown = groups.filter(({ label }) => !hidden.includes(label))
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
          <Button
            size="xs"
            variant={hasBands ? 'light' : 'default'}
            aria-pressed={hasBands}
            onClick={() => onSearch({ band: hasBands ? 'off' : undefined })}
          >
            {areFew(groups) ? 'Single runs' : '95 % CI'}
          </Button>
        </Group>
      }
    >
      <CursorProvider>
        <Readout groups={groups} hidden={hidden} onToggle={toggle} windows={windows} phase={phaseShown(search.range, end_s !== null)} />
        <div className={classes.stack}>
          <CursorSlider from={from} to={to} unit="s" />
          {quantities.map((quantity, index) => (
            <QuantityChart
              key={quantity.name}
              {...{ quantity, link, windows, from, to, hasBands, groups: shown }}
              isFirst={index === 0}
              isLast={index === quantities.length - 1}
            />
          ))}
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

/** Fewer runs than four: they are drawn one by one, since an interval of so few says little. */
const areFew = (groups: readonly LabelledGroup[]) => groups.every(({ group }) => group.series.throughput_bps.runs.length > 0)

function description(groups: readonly LabelledGroup[], hasBands: boolean): string {
  const spread = areFew(groups)
    ? ', with each run as a thin line'
    : ', with its 95 % confidence interval (single runs where they are fewer than four)'
  const fewer = hasChangingN(groups) ? ' Runs end at different times: later seconds are means over fewer runs, n is in the readout.' : ''
  return `Mean over runs per second${hasBands ? spread : ''}. Gaps are bins without a sample.${fewer}`
}

interface QuantityChartProps {
  quantity: StackedQuantity
  groups: LabelledGroup[]
  link: Link | undefined
  windows: Window[]
  from: number
  to: number
  hasBands: boolean
  isFirst: boolean
  isLast: boolean
}

function QuantityChart({ quantity, groups, link, windows, from, to, hasBands, isFirst, isLast }: QuantityChartProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list of labels stands for the filtered list, which is new at every render
  const series = useMemo(() => bandSeries(groups, quantity.name), [groups.map(({ label }) => label).join('|'), groups[0]?.group, quantity])
  const level = useMemo(() => (link ? levelOf(quantity, link) : undefined), [link, quantity])
  const isBare = quantity.isSparse && !areFew(groups)
  const facts: AxisFacts = { series, from, to, hasBands: hasBands && !isBare, level, factor: quantity.factor, limit: quantity.limit }
  const height = (isFirst ? 202 : 132) + (isLast ? 24 : 0)
  return (
    <Frame
      title={quantity.title}
      unit={quantity.unit}
      note={isBare && hasBands ? 'means alone: most seconds have none' : noteOf(quantity, facts)}
      height={height}
      table={() => (
        <BandTable
          caption={`${quantity.title}, ${quantity.unit}: mean with its 95 % interval`}
          xLabel="s"
          {...{ series, from, to }}
          factor={quantity.factor}
        />
      )}
    >
      {(width) => <BandChart {...facts} {...{ width, height, windows }} hasTimeAxis={isLast} areWindowsNamed={isFirst} />}
    </Frame>
  )
}

/** What the dashed level is, or that it lies beyond the axis; and whether intervals do. */
function noteOf(quantity: StackedQuantity, facts: AxisFacts): string | undefined {
  const { isLevelShown, isCut } = valueAxis(facts)
  const parts: string[] = []
  if (facts.level) {
    const value = `${facts.level.label} ${formatNumber(facts.level.value * quantity.factor)} ${quantity.unit}`
    parts.push(isLevelShown ? `┄ ${value}` : `${value}, beyond the axis`)
  }
  if (isCut) parts.push('wide intervals are cut off')
  return parts.length > 0 ? parts.join(' · ') : undefined
}
