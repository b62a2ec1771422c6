import { Button, Stack, Text } from '@mantine/core'
import type { CampaignDetail, Condition } from '@/api/types'
import { formatBytes } from '@/lib/format'
import { stopOf } from '@/lib/stop'
import { formatDuration, formatMoment } from '@/lib/time'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'
import { StackedTable } from '@/ui/StackedTable'
import classes from './plan.module.css'
import { useDraftPreview } from './queries'
import { expectTexts, flowText, samplingText, timetableText, triggerTexts, untilTexts } from './wording'

/** What was asked for: timetable, conditions with their settings, and the file itself. */
export function PlanTab({ campaign }: { campaign: CampaignDetail }) {
  if (campaign.origin === 'imported') return <Source campaign={campaign} title="Files" description="SHA-256 and name of each." />
  return campaign.state === 'draft' ? <DraftPlan campaign={campaign} /> : <Plan campaign={campaign} estimate={campaign.estimate} />
}

/** A draft's size is computed now: its links and agents may be others than when it was saved. */
function DraftPlan({ campaign }: { campaign: CampaignDetail }) {
  const preview = useDraftPreview(campaign.source)
  return <Plan campaign={campaign} estimate={preview.data?.estimate ?? campaign.estimate} />
}

function Plan({ campaign, estimate }: { campaign: CampaignDetail; estimate: CampaignDetail['estimate'] }) {
  const { spec } = campaign
  return (
    <Stack gap="lg">
      <Panel title="Timetable and limits">
        <Facts
          items={[
            ['Links', spec.links.join(', ')],
            ['Timetable', timetableText(spec)],
            ...untilTexts(spec).map((text) => ['Ends', `${text}; runs, duration and volume are for the maximum number of cycles`] as const),
            ...(spec.expect ? ([['Expected', expectTexts(spec).join('; ')]] as const) : []),
            ...triggerTexts(spec).map((text) => ['Trigger', `${text}; runs, duration and volume are for one firing`] as const),
            ['Runs', estimate.runs.toLocaleString('en-GB')],
            ['Estimated duration', formatDuration(estimate.duration_s)],
            ['Estimated volume', formatBytes(estimate.bytes)],
            ['Volume limit', spec.limits.bytes ? formatBytes(spec.limits.bytes) : 'none'],
            ['Tries per run', spec.limits.attempts],
            ['Phases', `start-up first ${spec.phases.startup_s} s, steady state last ${spec.phases.steady_s} s`],
            ['Senders record', samplingText(spec)],
            ['Created', formatMoment(campaign.created_at)],
            ['Launched', formatMoment(campaign.launched_at)],
          ]}
        />
      </Panel>
      <Panel title="Conditions" isFlush>
        <ConditionsTable conditions={spec.conditions} />
      </Panel>
      <Source campaign={campaign} title="Campaign file" description="As it was given." />
    </Stack>
  )
}

function Source({ campaign, title, description }: { campaign: CampaignDetail; title: string; description: string }) {
  return (
    <Panel title={title} description={description} actions={campaign.origin === 'imported' ? null : <DownloadFile campaign={campaign} />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard (WCAG 2.1.1) */}
      <pre className={classes.code} tabIndex={0}>
        {campaign.source}
      </pre>
    </Panel>
  )
}

/** The file as it was given, under the campaign's name. */
function DownloadFile({ campaign: { name, source } }: { campaign: CampaignDetail }) {
  const kind = source.trimStart().startsWith('{') ? 'json' : 'yaml'
  const file = `${name.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'campaign'}.${kind}`
  return (
    <Button size="xs" variant="default" component="a" download={file} href={`data:text/plain;charset=utf-8,${encodeURIComponent(source)}`}>
      Download {file}
    </Button>
  )
}

export function ConditionsTable({ conditions }: { conditions: Condition[] }) {
  const hasRelays = conditions.some(({ relay }) => Object.keys(relay ?? {}).length > 0)
  return (
    <StackedTable
      label="Conditions"
      heads={['Condition', 'Flows', 'Stop', 'Sender settings', 'Receiver settings', ...(hasRelays ? ['Relay settings'] : [])]}
      style={{ verticalAlign: 'top' }}
      whole={['Flows', 'Sender settings', 'Receiver settings', 'Relay settings']}
      rows={conditions.map(({ name, flows, stop, sender, receiver, relay }) => ({
        key: name,
        cells: [
          name,
          flows.map((flow, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: flows are known by their number, and may be alike
            <Text key={index} size="sm" miw={230} maw={340} style={{ whiteSpace: 'normal' }}>
              {flowText(flow)}
            </Text>
          )),
          stopOf(stop),
          <Settings key="sender" settings={sender} />,
          <Settings key="receiver" settings={receiver} />,
          ...(hasRelays ? [<Settings key="relay" settings={relay ?? {}} />] : []),
        ],
      }))}
    />
  )
}

function Settings({ settings }: { settings: Record<string, string> }) {
  const entries = Object.entries(settings)
  if (entries.length === 0) {
    return (
      <Text span size="sm" c="dimmed">
        as they are
      </Text>
    )
  }
  return entries.map(([name, value]) => (
    <div key={name}>
      <code>
        {name} = {value}
      </code>
    </div>
  ))
}
