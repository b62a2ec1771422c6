import { Button, Stack } from '@mantine/core'
import { useMemo } from 'react'
import { API } from '@/api/client'
import { useStatisticsAgainst, useValues } from '@/api/statistics'
import type { CampaignDetail, CampaignStatistics, CampaignValues } from '@/api/types'
import { MEASURES, phaseTitle } from '@/lib/quantities'
import { Choice } from '@/ui/Choice'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import classes from '@/ui/ui.module.css'
import { DifferencesPanel } from './DifferencesPanel'
import { DistributionPanel } from './DistributionPanel'
import { sidesAt } from './distributions'
import { canTell, choices, comparisonsAt, flowLabel, type Offer, type Place, placeOf } from './measures'
import { OutliersPanel } from './OutliersPanel'
import { useStatistics } from './queries'
import type { StatisticsSearch } from './search'
import { TestsPanel } from './TestsPanel'

function reason({ conditions, origin }: CampaignDetail): string {
  if (conditions.length < 2) return 'This campaign has one condition. Statistics compare conditions with each other: it takes two or more.'
  return origin === 'imported'
    ? 'Files of one condition are its cycles, in their order, and conditions are compared cycle by cycle. Add files until two conditions have two each.'
    : 'Conditions are compared within a cycle. The comparison appears when two cycles have ended.'
}

interface StatisticsTabProps {
  campaign: CampaignDetail
  search: StatisticsSearch
  onSearch: (change: StatisticsSearch) => void
}

/** How far the campaign's differences can be trusted, and what every run gave. */
export function StatisticsTab(props: StatisticsTabProps) {
  const statistics = useStatistics(props.campaign.id)
  return (
    <QueryPanel query={statistics} skeletonRows={10}>
      {(data) => (canTell(data.comparisons) ? <Content {...props} statistics={data} /> : <Nothing {...props} statistics={data} />)}
    </QueryPanel>
  )
}

type WithStatistics = StatisticsTabProps & { statistics: CampaignStatistics }

function Nothing({ campaign, search, onSearch, statistics }: WithStatistics) {
  const metric = MEASURES.find(({ name }) => name === search.metric)?.name ?? 'throughput_bps'
  const values = useValues(campaign.id, search.phase ?? 'startup', metric)
  return (
    <Stack gap="lg">
      <Panel>
        <Empty title="Nothing to compare yet">{reason(campaign)}</Empty>
      </Panel>
      {values.data ? <Single values={values.data} {...{ campaign, search, onSearch }} /> : null}
      {statistics.outliers.length > 0 ? <OutliersPanel outliers={statistics.outliers} /> : null}
    </Stack>
  )
}

/** What the runs offer where nothing can be compared. */
function Single({ values, campaign, search, onSearch }: StatisticsTabProps & { values: CampaignValues }) {
  const offers: Offer[] = values.sides.flatMap(({ link, flow }) => values.offered.map((one) => ({ link, flow, ...one })))
  const place = placeOf(offers, { ...search, phase: values.phase, metric: values.metric })
  if (!place || place.metric.name !== values.metric) return null
  return (
    <>
      <div className={classes.choices}>
        <Choices {...{ place, onSearch }} offered={choices(offers, place.phase, place.flow)} />
      </div>
      <Drawn {...{ values, place, campaign }} />
    </>
  )
}

function Content({ campaign, statistics, search, onSearch }: WithStatistics) {
  const { comparisons, outliers } = statistics
  const place = placeOf(comparisons, search)
  if (!place) return null
  const conditions = campaign.spec.conditions.map(({ name }) => name)
  const baseline = conditions.find((name) => name === search.baseline) ?? conditions[0] ?? ''
  const isChosen = baseline !== conditions[0]
  const query = isChosen ? `?baseline=${encodeURIComponent(baseline)}` : ''
  const shared = { campaign, place, conditions, isChosen }
  return (
    <Stack gap="lg">
      <div className={classes.choices}>
        <Choices {...{ place, onSearch }} offered={choices(comparisons, place.phase, place.flow)} />
        <Choice
          label="Baseline"
          width={280}
          value={baseline}
          data={conditions}
          onChange={(next) => onSearch({ baseline: next === conditions[0] ? undefined : next })}
        />
        <Button component="a" variant="default" href={`${API}/campaigns/${campaign.id}/statistics.csv${query}`} download>
          Download statistics.csv
        </Button>
      </div>
      {isChosen ? <Against {...shared} baseline={baseline} /> : <Compared {...shared} statistics={statistics} />}
      <Distribution campaign={campaign} place={place} />
      <OutliersPanel outliers={outliers} />
    </Stack>
  )
}

interface ComparedProps {
  campaign: CampaignDetail
  place: Place
  conditions: readonly string[]
  isChosen: boolean
}

function Against({ baseline, ...shared }: ComparedProps & { baseline: string }) {
  const statistics = useStatisticsAgainst(shared.campaign.id, baseline, shared.place.phase)
  return (
    <QueryPanel query={statistics} skeletonRows={10}>
      {(data) => <Compared {...shared} statistics={data} />}
    </QueryPanel>
  )
}

function Compared({ campaign, place, conditions, isChosen, statistics }: ComparedProps & { statistics: CampaignStatistics }) {
  const { comparisons, primary_metrics } = statistics
  return (
    <>
      <DifferencesPanel
        {...{ place, conditions }}
        shown={comparisonsAt(comparisons, place)}
        source={{ campaign: campaign.name, linkName: place.link }}
      />
      <TestsPanel {...{ comparisons, isChosen }} primary={primary_metrics} link={place.link} flow={place.flow} />
    </>
  )
}

function Distribution({ campaign, place }: { campaign: CampaignDetail; place: Place }) {
  const values = useValues(campaign.id, place.phase, place.metric.name)
  return (
    <QueryPanel query={values} skeletonRows={8}>
      {(data) => <Drawn values={data} {...{ place, campaign }} />}
    </QueryPanel>
  )
}

function Drawn({ values, place, campaign }: { values: CampaignValues; place: Place; campaign: CampaignDetail }) {
  const sides = useMemo(() => sidesAt(values, place.link, place.flow), [values, place.link, place.flow])
  return <DistributionPanel {...{ sides, place }} source={{ campaign: campaign.name, linkName: place.link }} />
}

interface ChoicesProps {
  place: Place
  offered: ReturnType<typeof choices>
  onSearch: StatisticsTabProps['onSearch']
}

function Choices({ place, offered, onSearch }: ChoicesProps) {
  const { links, flows, phases, metrics } = offered
  return (
    <>
      {links.length > 1 ? <Choice label="Link" value={place.link} data={links} onChange={(link) => onSearch({ link })} /> : null}
      {flows.length > 1 ? (
        <Choice
          label="Flow"
          value={String(place.flow)}
          data={flows.map((flow) => ({ value: String(flow), label: flowLabel(flow) }))}
          onChange={(flow) => onSearch({ flow: Number(flow) })}
        />
      ) : null}
      <Choice
        label="Phase"
        value={place.phase}
        data={phases.map((value) => ({ value, label: phaseTitle(value) }))}
        onChange={(phase) => onSearch({ phase })}
      />
      <Choice
        label="Metric"
        value={place.metric.name}
        data={metrics.map(({ name, title }) => ({ value: name, label: title }))}
        onChange={(metric) => onSearch({ metric })}
      />
    </>
  )
}
