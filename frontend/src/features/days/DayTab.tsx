import { Group, Select, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { API, api } from '@/api/client'
import type { CampaignDay, CampaignDetail, DayRun } from '@/api/types'
import { momentText, secondsOf } from '@/charts/clock'
import { SaveMenu } from '@/charts/SaveMenu'
import { plural } from '@/lib/format'
import { LINKED, phaseChoices } from '@/lib/quantities'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { StackedTable } from '@/ui/StackedTable'
import { StateBadge } from '@/ui/StateBadge'
import { AnnotationsPanel } from './AnnotationsPanel'
import { DayStrip } from './DayStrip'
import { DAY_METRICS, type DayMetric, endedBadly, metricOf, stripsOf } from './day'
import { dayFigure } from './figures'
import { QuantitiesPanel } from './QuantitiesPanel'
import { useCampaignDay } from './queries'
import type { DaySearch } from './search'

interface DayTabProps {
  campaign: CampaignDetail
  search: DaySearch
  onSearch: (change: DaySearch) => void
}

/** The campaign at one look: every run's value over clock time. */
export function DayTab({ campaign, search, onSearch }: DayTabProps) {
  const metric = metricOf(search.metric)
  const phases = phaseChoices(campaign.spec.windows ?? [])
  const phase = phases.find(({ value }) => value === search.phase)?.value ?? 'overall'
  const day = useCampaignDay(campaign.id, phase, metric.name)
  return (
    <Stack gap="lg">
      <Choices {...{ campaign, metric, phase, phases, onSearch }} />
      <QueryPanel query={day} skeletonRows={10} empty={({ runs }) => (runs.length === 0 ? <Nothing /> : null)}>
        {(data) => <Strips day={data} {...{ campaign, metric }} />}
      </QueryPanel>
    </Stack>
  )
}

function Nothing() {
  return (
    <Panel>
      <Empty title="No runs yet">Launch the campaign. Its runs are planned from that moment on and shown here over time.</Empty>
    </Panel>
  )
}

interface ChoicesProps {
  campaign: CampaignDetail
  metric: DayMetric
  phase: string
  phases: { value: string; label: string }[]
  onSearch: (change: DaySearch) => void
}

function Choices({ campaign, metric, phase, phases, onSearch }: ChoicesProps) {
  const links = api.useQuery('get', `${API}/links`, { params: { query: { limit: 100 } } })
  const isEmulated = links.data?.items.some(({ name, is_emulated }) => is_emulated && campaign.links.includes(name)) ?? false
  const offered = DAY_METRICS.filter((one) => isEmulated || one.name === metric.name || !LINKED.some(({ name }) => name === one.name))
  return (
    <Group gap="sm" align="end">
      <Select
        label="Metric"
        w={230}
        data={offered.map(({ name, title }) => ({ value: name, label: title }))}
        value={metric.name}
        allowDeselect={false}
        onChange={(next) => onSearch({ metric: next ?? undefined })}
      />
      <Select
        label="Phase"
        w={150}
        data={phases}
        value={phase}
        allowDeselect={false}
        disabled={metric.name === 'time_to_steady_s'}
        onChange={(next) => onSearch({ phase: next ?? undefined })}
      />
    </Group>
  )
}

function Strips({ day, campaign, metric }: { day: CampaignDay; campaign: CampaignDetail; metric: DayMetric }) {
  const strips = useMemo(() => stripsOf(day, campaign.conditions), [day, campaign.conditions])
  const figure = (link: string | null) =>
    dayFigure({ day, conditions: campaign.conditions, metric, link, source: { campaign: campaign.name, linkName: link ?? undefined } })
  return (
    <>
      {strips.map((strip) => (
        <Panel
          key={strip.link}
          title={strip.link}
          description={`Every run by the clock, in UTC. ${nightText(strip.zone)}`}
          isFlush
          actions={strips.length > 1 && strip === strips[0] ? <SaveMenu what="all links" figure={() => figure(null)} /> : undefined}
        >
          <DayStrip {...{ strip, metric }} figure={() => figure(strip.link)} />
        </Panel>
      ))}
      {day.total > day.runs.length ? (
        <Text size="sm" c="dimmed">
          The first {day.runs.length} of {plural(day.total, 'run')}. runs.csv on the Downloads tab has them all.
        </Text>
      ) : null}
      <QuantitiesPanel day={day} metric={metric.name} metricTitle={metric.title} />
      <AnnotationsPanel day={day} campaign={campaign} />
      <EndedBadly runs={endedBadly(day.runs)} campaignId={campaign.id} hasLinks={strips.length > 1} />
    </>
  )
}

const nightText = (zone: string | null) =>
  zone ? `Shaded: night in ${zone}, 22:00 to 06:00.` : 'Give the link a time zone on the Links page to see its nights.'

const REASONS_SHOWN = 12

/** Why runs have no value. */
function EndedBadly({ runs, campaignId, hasLinks }: { runs: readonly DayRun[]; campaignId: string; hasLinks: boolean }) {
  if (runs.length === 0) return null
  return (
    <Panel title="Runs that did not complete" isFlush>
      <StackedTable
        label="Runs that did not complete"
        heads={['Run', 'Why', 'State', 'UTC', ...(hasLinks ? ['Link'] : [])]}
        whole={['Why']}
        rows={runs.slice(0, REASONS_SHOWN).map((run) => ({
          key: run.id,
          cells: [
            <Link key="run" to="/runs/$runId" params={{ runId: run.id }}>
              {run.condition}, cycle {run.cycle}
              {run.attempt > 1 ? `, attempt ${run.attempt}` : ''}
            </Link>,
            run.detail ?? run.reason,
            <StateBadge key="state" state={run.state} />,
            momentText(secondsOf(run.at)),
            ...(hasLinks ? [run.link] : []),
          ],
        }))}
      />
      {runs.length > REASONS_SHOWN ? (
        <Text size="sm" p="md">
          {plural(runs.length - REASONS_SHOWN, 'more run')} did not complete:{' '}
          <Link to="/campaigns/$campaignId" params={{ campaignId }} search={{ tab: 'runs' }}>
            all are on the Runs tab
          </Link>
          .
        </Text>
      ) : null}
    </Panel>
  )
}
