import { Group, NativeSelect, SegmentedControl, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useValues } from '@/api/statistics'
import type { CampaignDetail, Report } from '@/api/types'
import { BandChart } from '@/charts/BandChart'
import { BandTable } from '@/charts/BandTable'
import { hasRuns } from '@/charts/bands'
import { CursorProvider } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { SeriesNames } from '@/charts/SeriesNames'
import type { Source } from '@/lib/captions'
import { phaseTitle } from '@/lib/quantities'
import { Empty } from '@/ui/Empty'
import { loadTwice } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import { useReproduction } from '../queries'
import classes from './results.module.css'
import type { ResultsSearch } from './search'
import { hasRatios, offeredMetrics, placeNames, type Varied, variedOf, variedRatios, variedValues } from './varied'

const loadFigures = () => loadTwice(() => import('./figures'))

const HEIGHT = 260

interface VariedPanelProps {
  campaign: CampaignDetail
  report: Report
  link: string
  phase: string
  source: Source
  search: ResultsSearch
  onSearch: (change: ResultsSearch) => void
}

/** One metric over what the campaign varied, a line for each condition, with what was published. */
export function VariedPanel(props: VariedPanelProps) {
  const { spec } = props.campaign
  const varied = useMemo(() => variedOf(spec), [spec])
  return varied ? <Drawn {...props} varied={varied} /> : null
}

function Drawn({ campaign, report, varied, link, phase, source, search, onSearch }: VariedPanelProps & { varied: Varied }) {
  const reproduction = useReproduction(campaign.id).data
  const [picked, setPicked] = useState<string | null>(null)
  const offered = useMemo(() => offeredMetrics(report.groups, phase), [report.groups, phase])
  const [, usual] = (report.primary_metrics[0] ?? '').split('.')
  const metric = offered.find(({ name }) => name === (search.metric ?? usual)) ?? offered[0]
  const isRatio = search.gain === 'ratio' && hasRatios(report, varied)
  const values = useValues(campaign.id, phase, metric?.name ?? usual ?? '').data
  const plot = useMemo(() => {
    if (!metric) return { series: [], published: [] }
    const asked = { spec: campaign.spec, varied, report, reproduction, values, link, phase, metric }
    return isRatio ? variedRatios(asked) : variedValues(asked)
  }, [campaign.spec, varied, report, reproduction, values, link, phase, metric, isRatio])
  if (!metric) return null
  const { series, published } = plot
  const base = campaign.spec.conditions[0]?.name ?? ''
  const unit = isRatio ? `of ${base}` : metric.unit
  const factor = isRatio ? 1 : metric.factor
  const xNames = placeNames(varied)
  const [from, to] = [0, xNames.length - 1]
  const title = `${metric.title}, ${phaseTitle(phase).toLowerCase()}`
  const drawn = { series, published, xNames, factor, from, to }
  return (
    <Panel
      title={`Over ${varied.key}`}
      description={`Mean over runs ${series.some(hasRuns) ? 'and the single runs' : 'with its 95 % interval'}${isRatio ? ` as multiples of ${base}, cycle by cycle` : ''}. Values of ${varied.key} lie at even distances.${
        published.length > 0 ? ' Rings: published.' : ''
      }`}
      isFlush
      actions={
        hasRatios(report, varied) ? (
          <SegmentedControl
            size="xs"
            aria-label="What is drawn"
            value={isRatio ? 'ratio' : 'value'}
            onChange={(value) => onSearch({ gain: value === 'ratio' ? 'ratio' : undefined })}
            data={[
              { value: 'value', label: 'Values' },
              { value: 'ratio', label: `Over ${base}` },
            ]}
          />
        ) : null
      }
    >
      <Group px="md" pb="sm">
        <NativeSelect
          label="Metric"
          w={240}
          value={metric.name}
          data={offered.map(({ name, title: label }) => ({ value: name, label }))}
          onChange={({ currentTarget }) => onSearch({ metric: currentTarget.value })}
        />
      </Group>
      {series.length === 0 ? (
        <Empty title="Nothing to draw yet">
          {isRatio
            ? 'Ratios appear when the first condition and another one have runs in a cycle.'
            : 'It appears with the first complete runs.'}
        </Empty>
      ) : (
        <CursorProvider>
          <div className={classes.objectReadout}>
            <SeriesNames {...{ series }} onPick={setPicked} />
          </div>
          <Frame
            title={title}
            unit={unit}
            height={HEIGHT}
            figure={async () =>
              (await loadFigures()).variedFigure({ ...drawn, xTitle: varied.key, title, unit, metric: metric.name, isRatio, source })
            }
            table={() => <BandTable caption={`${title}, ${unit}: mean with its 95 % interval`} xLabel={varied.key} {...drawn} />}
          >
            {(width) => <BandChart {...drawn} {...{ width, picked }} height={HEIGHT} hasBands hasTimeAxis />}
          </Frame>
          <Text size="xs" c="dimmed" ta="center" pb="sm">
            {varied.key}
          </Text>
        </CursorProvider>
      )}
    </Panel>
  )
}
