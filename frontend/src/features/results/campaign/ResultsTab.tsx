import { Anchor, NativeSelect, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { CampaignDetail, Report } from '@/api/types'
import { plural } from '@/lib/format'
import { phaseChoices } from '@/lib/quantities'
import { formatMoment } from '@/lib/time'
import { Empty } from '@/ui/Empty'
import { Later } from '@/ui/Later'
import { LazyPart } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { useLinkFacts, useReport } from '../queries'
import { BaselinePanel } from './BaselinePanel'
import { DelaysPanel } from './DelaysPanel'
import { FairnessPanel } from './FairnessPanel'
import { LinkPanel } from './LinkPanel'
import { MetricsPanel } from './MetricsPanel'
import { ObjectTimesPanel } from './ObjectTimesPanel'
import { RatesPanel } from './RatesPanel'
import { SharesPanel } from './SharesPanel'
import { StackPanel } from './StackPanel'
import { SummaryPanel } from './SummaryPanel'
import type { ResultsSearch } from './search'
import { commonEnd, labelGroups, phaseWindows } from './series'

const loadVaried = () => import('./VariedPanel').then(({ VariedPanel }) => VariedPanel)
const isVaried = ({ vary, conditions }: CampaignDetail['spec']) => Boolean(vary) || conditions.some(({ varied }) => varied)

interface ResultsTabProps {
  campaign: CampaignDetail
  search: ResultsSearch
  onSearch: (change: ResultsSearch) => void
  /** By somebody who may read this campaign and nothing else. */
  isVisited?: boolean
}

export function ResultsTab({ campaign, search, onSearch, isVisited = false }: ResultsTabProps) {
  const report = useReport(campaign.id)
  return (
    <QueryPanel
      query={report}
      skeletonRows={10}
      emptyCodes={{ report_not_ready: <NotYet campaign={campaign} isVisited={isVisited} /> }}
      empty={({ groups }) => (groups.length === 0 ? <NotYet campaign={campaign} isVisited={isVisited} /> : null)}
    >
      {(data) => <Results {...{ campaign, search, onSearch, isVisited }} report={data} />}
    </QueryPanel>
  )
}

const NOTHING = 'They appear here after the first complete runs.'

function NotYet({ campaign, isVisited }: { campaign: CampaignDetail; isVisited: boolean }) {
  const says: Record<string, string> = {
    draft: 'Launch the campaign; the first results appear after the first run of a condition.',
    running: 'The first results appear after the first run of a condition. The runs under way are on the Runs tab.',
    paused: 'The campaign is paused. Resume it; results appear after the first run of a condition.',
  }
  return (
    <Panel>
      <Empty title="No results yet">
        {isVisited ? NOTHING : (says[campaign.state] ?? 'No run of this campaign is complete. The Runs tab shows why.')}
      </Empty>
    </Panel>
  )
}

function Results({ campaign, report, search, onSearch, isVisited }: ResultsTabProps & { report: Report }) {
  const links = useLinkFacts(campaign.id)
  const names = useMemo(() => [...new Set(report.groups.map((group) => group.link))], [report.groups])
  const name = names.find((candidate) => candidate === search.link) ?? names[0] ?? ''
  const groups = useMemo(() => labelGroups(report.groups, name), [report.groups, name])
  const phase = phaseChoices(report.windows).find(({ value }) => value === search.phase)?.value ?? 'startup'
  const link = links.data?.find((one) => one.name === name)
  const source = { campaign: campaign.name, link, linkName: name, analysisVersion: report.analysis_version }
  const windows = useMemo(() => phaseWindows(report.phases, commonEnd(campaign.spec)), [report.phases, campaign.spec])
  const { failed, missed } = campaign.counts
  return (
    <Stack gap="lg">
      {names.length > 1 ? (
        <NativeSelect
          label="Link"
          w={240}
          data={names}
          value={name}
          onChange={({ currentTarget }) => onSearch({ link: currentTarget.value })}
        />
      ) : null}
      {failed + missed > 0 ? <LeftOut failed={failed} missed={missed} isVisited={isVisited} /> : null}
      {isVaried(campaign.spec) ? (
        <LazyPart load={loadVaried} props={{ campaign, report, phase, source, search, onSearch, link: name }} />
      ) : null}
      <SummaryPanel groups={groups} />
      <StackPanel groups={groups} link={link} source={source} windows={windows} search={search} onSearch={onSearch} />
      <Later>
        <MetricsPanel
          groups={groups}
          report={report}
          phase={phase}
          onPhase={(next) => onSearch({ phase: next === 'startup' ? undefined : next })}
        />
        <BaselinePanel {...{ campaign, report, groups, phase, search, onSearch }} link={name} />
        <LinkPanel links={report.links.filter((one) => one.link === name)} phase={phase} />
        <FairnessPanel fairness={report.fairness.filter((one) => one.link === name)} />
        <SharesPanel fairness={report.fairness.filter((one) => one.link === name)} source={source} />
        <ObjectTimesPanel
          {...{ groups, source }}
          hasBands={search.band !== 'off'}
          basis={search.objects ?? 'sender'}
          onBasis={(objects) => onSearch({ objects: objects === 'sender' ? undefined : objects })}
        />
        <RatesPanel
          {...{ groups, source }}
          campaignId={campaign.id}
          kind={search.rate ?? 'throughput'}
          onKind={(rate) => onSearch({ rate: rate === 'throughput' ? undefined : rate })}
        />
        {campaign.origin === 'imported' ? null : (
          <DelaysPanel
            {...{ groups, source }}
            campaignId={campaign.id}
            kind={search.delay ?? 'arrival'}
            onKind={(delay) => onSearch({ delay: delay === 'arrival' ? undefined : delay })}
          />
        )}
        <Text size="xs" c="dimmed">
          Computed {formatMoment(report.computed_at)} by analysis version {report.analysis_version}
          {currency(report)}
        </Text>
      </Later>
    </Stack>
  )
}

function currency({ is_current, is_outdated }: Report): string {
  if (is_outdated) return ', which is older than this version. “downlink campaigns reanalyse” rebuilds it.'
  return is_current ? '.' : '; newer runs are being added.'
}

/** Runs that are not in the means, said where the means are read. */
function LeftOut({ failed, missed, isVisited }: { failed: number; missed: number; isVisited: boolean | undefined }) {
  const parts = [failed ? plural(failed, 'failed run') : null, missed ? plural(missed, 'missed run') : null].filter(Boolean)
  return (
    <Text size="sm">
      {parts.join(' and ')} {failed + missed === 1 ? 'is' : 'are'} not in these means.{' '}
      {isVisited ? 'The report says why.' : <SeeWhy state={failed > 0 ? 'failed' : 'missed'} />}
    </Text>
  )
}

function SeeWhy({ state }: { state: 'failed' | 'missed' }) {
  const navigate = useNavigate({ from: '/campaigns/$campaignId' })
  const onShow = () => void navigate({ search: (old) => ({ ...old, tab: 'runs', state }), replace: true, resetScroll: false })
  return (
    <Anchor component="button" type="button" size="sm" onClick={onShow} inherit>
      See why
    </Anchor>
  )
}
