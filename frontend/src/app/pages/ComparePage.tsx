import { Button, Stack, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { API } from '@/api/client'
import type { CampaignsCompared, Report } from '@/api/types'
import { choicesOf } from '@/features/compare/compared'
import { MeansPanel } from '@/features/compare/MeansPanel'
import { useComparison, useReports } from '@/features/compare/queries'
import { SideList } from '@/features/compare/SideList'
import { SidePicker } from '@/features/compare/SidePicker'
import { labelSides, MAX_SIDES, withFlow } from '@/features/compare/sides'
import { UnlikePanel } from '@/features/compare/UnlikePanel'
import { UnpairedPanel } from '@/features/compare/UnpairedPanel'
import { StackPanel } from '@/features/results/campaign/StackPanel'
import { type LabelledGroup, phaseWindows } from '@/features/results/campaign/series'
import { useLinkFacts } from '@/features/results/queries'
import { DistributionPanel } from '@/features/statistics/DistributionPanel'
import type { LinkLevels, Source } from '@/lib/captions'
import { phaseTitle } from '@/lib/quantities'
import { Choice } from '@/ui/Choice'
import { Empty } from '@/ui/Empty'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import classes from '@/ui/ui.module.css'
import type { CompareSearch } from './compareSearch'

const route = getRouteApi('/shell/compare')

/** Conditions of any campaigns and links beside each other. */
export function ComparePage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const view = (change: CompareSearch) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true, resetScroll: false })
  // Another choice is another comparison: Back returns to the one before.
  const choose = (side: string[], baseline = search.baseline) =>
    void navigate({
      search: (old) => ({
        ...old,
        side: side.length > 0 ? side : undefined,
        baseline: side.find((one) => one === baseline),
        hide: undefined,
      }),
      resetScroll: false,
    })
  const chosen = (search.side ?? []).slice(0, MAX_SIDES)
  const baseline = chosen.find((one) => one === search.baseline) ?? chosen[0] ?? ''
  const compared = useComparison({ side: chosen, baseline, phase: search.phase ?? 'startup', metric: search.metric ?? 'throughput_bps' })
  const known = useMemo(() => knownSides(compared.data), [compared.data])
  return (
    <>
      <PageHeader title="Compare" description="Conditions of any campaigns and links beside each other" />
      <Stack gap="lg">
        <Panel title="Conditions">
          <Stack gap="md">
            <SidePicker chosen={chosen} onAdd={(side) => choose([...chosen, side])} />
            {chosen.length > 0 ? (
              <SideList
                {...{ chosen, known, baseline }}
                onBaseline={(side) => choose(chosen, side)}
                onFlow={(side, flow) =>
                  choose(
                    chosen.map((one) => (one === side ? withFlow(side, flow) : one)),
                    baseline === side ? withFlow(side, flow) : baseline,
                  )
                }
                onRemove={(side) => choose(chosen.filter((one) => one !== side))}
              />
            ) : null}
          </Stack>
        </Panel>
        {chosen.length === 0 ? (
          <Panel>
            <Empty title="Nothing is chosen yet">
              Search for a condition above, then for others: of the same campaign, of another day or of another link. Or open a campaign and
              press “Compare with …”.
            </Empty>
          </Panel>
        ) : (
          <QueryPanel query={compared} skeletonRows={10}>
            {(data) => <Compared {...{ data, search }} onView={view} />}
          </QueryPanel>
        )}
      </Stack>
    </>
  )
}

function knownSides(data: CampaignsCompared | undefined) {
  const sides = data?.sides ?? []
  const labels = labelSides(sides)
  return new Map(sides.map((side, index) => [side.side, { side, label: labels[index] ?? '' }]))
}

interface ComparedProps {
  data: CampaignsCompared
  search: CompareSearch
  onView: (change: CompareSearch) => void
}

function Compared({ data, search, onView }: ComparedProps) {
  const { sides, phase } = data
  const labels = useMemo(() => labelSides(sides), [sides])
  const { phases, metrics } = choicesOf(data, phase)
  const measure = metrics.find(({ name }) => name === data.metric)
  const found = data.compared.find(({ metric }) => metric === data.metric)
  const source: Source = { campaign: 'comparison', campaigns: [...new Set(sides.map(({ campaign }) => campaign))] }
  const drawn = useMemo(() => sides.map((side, style) => ({ side, style, label: labels[style] ?? '' })), [sides, labels])
  if (phases.length === 0)
    return (
      <Panel>
        <Empty title="No complete run yet">None of these conditions has a complete run. Choose others, or come back when they have.</Empty>
      </Panel>
    )
  return (
    <>
      {sides.length > 1 ? (
        <UnlikePanel unlike={data.unlike} labels={labels} />
      ) : (
        <Text size="sm">Add a second condition to see how they differ.</Text>
      )}
      <div className={classes.choices}>
        <Choice
          label="Phase"
          value={phase}
          data={[...new Set([...phases, phase])].map((value) => ({ value, label: phaseTitle(value) }))}
          onChange={(next) => onView({ phase: next })}
        />
        <Choice
          label="Metric"
          width={240}
          value={measure?.name ?? ''}
          data={metrics.map(({ name, title }) => ({ value: name, label: title }))}
          onChange={(metric) => onView({ metric })}
        />
        <Button component="a" variant="default" href={csvAddress(data)} download>
          Download comparison.csv
        </Button>
      </div>
      {measure && found ? (
        <>
          {sides.length > 1 ? (
            <UnpairedPanel
              compared={found}
              base={sides.findIndex(({ side }) => side === data.baseline)}
              {...{ measure, sides, labels, source }}
            />
          ) : null}
          <DistributionPanel sides={drawn} place={{ metric: measure, phase }} source={source} />
        </>
      ) : (
        <Panel>
          <Empty title="No run has this metric in this phase">Choose another metric or phase above.</Empty>
        </Panel>
      )}
      <MeansPanel compared={data.compared} {...{ labels, phase }} />
      <Series {...{ data, labels, search, source, onView }} />
    </>
  )
}

function csvAddress({ sides, baseline }: CampaignsCompared): string {
  const query = new URLSearchParams([...sides.map(({ side }): [string, string] => ['side', side]), ['baseline', baseline]])
  return `${API}/comparison.csv?${query}`
}

interface SeriesProps extends Pick<ComparedProps, 'data' | 'search' | 'onView'> {
  labels: readonly string[]
  source: Source
}

/** The stack over time, of the campaigns' own reports. */
function Series({ data, labels, search, source, onView }: SeriesProps) {
  const { sides } = data
  const { reports, isPending } = useReports([...new Set(sides.map(({ campaign_id }) => campaign_id))])
  const links = useLinkFacts(sides[0]?.campaign_id ?? '')
  const groups = useMemo(() => groupsOf(sides, labels, reports), [sides, labels, reports])
  const link = linkOf(data, links.data ?? [])
  const windows = useMemo(() => commonStart(reports), [reports])
  if (groups.length === 0) return isPending ? <Text size="sm">The series are on their way.</Text> : null
  return <StackPanel {...{ groups, link, windows, search }} source={{ ...source, link }} onSearch={onView} />
}

/** Each side's group of its campaign's report, with the side's name and colour. */
function groupsOf(sides: CampaignsCompared['sides'], labels: readonly string[], reports: readonly Report[]): LabelledGroup[] {
  return sides.flatMap((side, style) => {
    const report = reports.find(({ campaign_id }) => campaign_id === side.campaign_id)
    const group = report?.groups.find((one) => one.link === side.link && one.condition === side.condition && one.flow === side.flow)
    return group ? [{ label: labels[style] ?? '', style, group }] : []
  })
}

/** The link, where all sides have the same: only then its rate and RTT are everybody's. */
function linkOf({ sides, unlike }: CampaignsCompared, links: readonly LinkLevels[]): LinkLevels | undefined {
  return unlike.some(({ aspect }) => aspect === 'link') ? undefined : links.find(({ name }) => name === sides[0]?.link)
}

/** Start-up, where all campaigns mean the same by it. */
function commonStart(reports: readonly Report[]) {
  const [first] = reports
  return first && reports.every(({ phases }) => phases.startup_s === first.phases.startup_s) ? phaseWindows(first.phases, null) : []
}
