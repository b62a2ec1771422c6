import { Button, Select, Stack } from '@mantine/core'
import { API } from '@/api/client'
import type { CampaignDetail, CampaignStatistics } from '@/api/types'
import { phaseTitle } from '@/lib/quantities'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { DifferencesPanel } from './DifferencesPanel'
import { canTell, choices, comparisonsAt, flowLabel, type Place, placeOf } from './measures'
import { OutliersPanel } from './OutliersPanel'
import { useStatistics } from './queries'
import type { StatisticsSearch } from './search'
import classes from './statistics.module.css'
import { TestsPanel } from './TestsPanel'

function reason({ conditions, origin }: CampaignDetail): string {
  if (conditions.length < 2)
    return 'This campaign has one condition. Statistics compare conditions with the first one: it takes two or more.'
  return origin === 'imported'
    ? 'Files of one condition are its cycles, in their order, and conditions are compared cycle by cycle. Add files until two conditions have two each.'
    : 'Conditions are compared within a cycle. The comparison appears when two cycles have ended.'
}

interface StatisticsTabProps {
  campaign: CampaignDetail
  search: StatisticsSearch
  onSearch: (change: StatisticsSearch) => void
}

/** How far the campaign's differences can be trusted. */
export function StatisticsTab({ campaign, search, onSearch }: StatisticsTabProps) {
  const statistics = useStatistics(campaign.id)
  return (
    <QueryPanel
      query={statistics}
      skeletonRows={10}
      empty={(data) => (!canTell(data.comparisons) ? <Nothing campaign={campaign} statistics={data} /> : null)}
    >
      {(data) => <Content {...{ campaign, search, onSearch }} statistics={data} />}
    </QueryPanel>
  )
}

function Nothing({ campaign, statistics }: { campaign: CampaignDetail; statistics: CampaignStatistics }) {
  return (
    <Stack gap="lg">
      <Panel>
        <Empty title="Nothing to compare yet">{reason(campaign)}</Empty>
      </Panel>
      {statistics.outliers.length > 0 ? <OutliersPanel outliers={statistics.outliers} /> : null}
    </Stack>
  )
}

function Content({ campaign, statistics, search, onSearch }: StatisticsTabProps & { statistics: CampaignStatistics }) {
  const { comparisons, outliers } = statistics
  const place = placeOf(comparisons, search)
  if (!place) return null
  return (
    <Stack gap="lg">
      <div className={classes.choices}>
        <Choices {...{ place, onSearch }} offered={choices(comparisons, place.phase, place.flow)} />
        <Button component="a" variant="default" href={`${API}/campaigns/${campaign.id}/statistics.csv`} download>
          Download statistics.csv
        </Button>
      </div>
      <DifferencesPanel
        place={place}
        shown={comparisonsAt(comparisons, place)}
        source={{ campaign: campaign.name, linkName: place.link }}
      />
      <TestsPanel comparisons={comparisons} primary={statistics.primary_metrics} link={place.link} flow={place.flow} />
      <OutliersPanel outliers={outliers} />
    </Stack>
  )
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

interface ChoiceProps {
  label: string
  value: string
  data: (string | { value: string; label: string })[]
  onChange: (value: string) => void
}

function Choice({ label, value, data, onChange }: ChoiceProps) {
  return <Select {...{ label, value, data }} w={170} allowDeselect={false} onChange={(next) => (next ? onChange(next) : undefined)} />
}
