import { Text } from '@mantine/core'
import type { CampaignPreview } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { formatDuration } from '@/lib/time'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'
import { Conflicts } from './Conflicts'
import { PlannedRuns } from './PlannedRuns'
import { ConditionsTable } from './PlanTab'
import { PlanTimeline } from './PlanTimeline'
import { PreflightPanel, type QuickTestButton } from './PreflightPanel'
import { expectTexts, forecastText, samplingText, stopText, timetableText, triggerTexts, untilTexts, weightText } from './wording'

interface PreviewPanelProps {
  preview: CampaignPreview
  isCurrent: boolean
  /** What the plan's sampling means for what is judged later. */
  note: string | null
  quickTest: QuickTestButton
}

/** What the file would do: conflicts first, then size, hosts, timeline, conditions, runs. */
export function PreviewPanel({ preview, isCurrent, note, quickTest }: PreviewPanelProps) {
  const { campaign, conflicts, estimate, hosts, runs } = preview
  return (
    <div style={{ display: 'contents' }} aria-busy={!isCurrent}>
      <Conflicts conflicts={conflicts} />
      <Panel title={campaign.name}>
        <Facts
          items={[
            ['Runs', estimate.runs.toLocaleString('en-GB')],
            ['Duration', formatDuration(estimate.duration_s)],
            ['Volume, at most about', formatBytes(estimate.bytes)],
            ['Stop', stopText(campaign)],
            ['Timetable', timetableText(campaign)],
            ...untilTexts(campaign).map(
              (text) => ['Ends', `${text}; runs, duration and volume are for the maximum number of cycles`] as const,
            ),
            ...(preview.forecast ? [['Cycles', forecastText(preview.forecast)] as const] : []),
            ...(campaign.expect ? ([['Expected', expectTexts(campaign).join('; ')]] as const) : []),
            ...triggerTexts(campaign).map((text) => ['Trigger', `${text}; runs, duration and volume are for one firing`] as const),
            ['Links', campaign.links.join(', ')],
            ['Weight', weightText(preview)],
            ['Senders record', samplingText(campaign)],
          ]}
        />
        <Text size="sm" c="dimmed" mt="sm">
          {note}
        </Text>
      </Panel>
      <PreflightPanel hosts={hosts} quickTest={quickTest} />
      {runs.length > 0 ? <Timeline preview={preview} /> : null}
      <Panel title="Planned conditions" isFlush>
        <ConditionsTable conditions={campaign.conditions} />
      </Panel>
      {runs.length > 0 ? <PlannedRuns preview={preview} /> : null}
    </div>
  )
}

function Timeline({ preview: { campaign, estimate, runs } }: { preview: CampaignPreview }) {
  return (
    <Panel title="Timeline">
      <PlanTimeline runs={runs} conditions={campaign.conditions.map(({ name }) => name)} />
      {estimate.runs > runs.length ? (
        <Text size="sm" c="dimmed">
          The first {runs.length} of {estimate.runs.toLocaleString('en-GB')} runs.
        </Text>
      ) : null}
    </Panel>
  )
}
