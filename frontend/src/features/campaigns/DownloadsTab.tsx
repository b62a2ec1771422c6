import { Button, NativeSelect, Text } from '@mantine/core'
import { useState } from 'react'
import { API } from '@/api/client'
import type { CampaignDetail } from '@/api/types'
import { formatBytes, plural } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import classes from './campaigns.module.css'
import { useDataSize } from './queries'
import { type TableFacts, useTableFacts } from './tableFacts'

const FILES = [
  {
    name: 'summary.csv',
    title: 'Summary',
    says: 'Per link, condition, flow and second: mean, 95 % interval and n of every series. What the charts show.',
  },
  {
    name: 'metrics.csv',
    title: 'Metrics per run',
    says: 'Per run, flow and phase: throughput, RTT, windows, retransmissions, utilisation. For your own statistics.',
  },
  { name: 'series.csv', title: 'Series per run', says: 'Every flow of every run in one-second bins.' },
  { name: 'runs.csv', title: 'Runs', says: 'Every run and attempt with its state, reason and times; failed and missed runs too.' },
  {
    name: 'exits.csv',
    title: 'Slow-start exits',
    says: 'Every detector on every flow: exit, window, verdict and its inputs, with capacity and first loss.',
  },
  {
    name: 'limits.csv',
    title: 'Limits',
    says: 'Every flow per second: the share of time limited by each window, the send buffer or the application; recommended buffers.',
  },
  {
    name: 'link.csv',
    title: 'Emulated links',
    says: "Per run and phase, by the link's own log: one-way queueing, utilisation, losses by cause, outages; per flow what it lost and why.",
  },
  {
    name: 'proxies.csv',
    title: 'Proxies',
    says: 'Every flow: whether a proxy on the path split TCP (a PEP), and the evidence: acknowledgements, handshakes, windows.',
  },
  {
    name: 'delays.csv',
    title: 'Delays of blocks',
    says: "Every flow with a delivery table: one-way delay, delay in order and jitter with percentiles and n, beside the clocks' error; or why there is none.",
  },
  {
    name: 'fairness.csv',
    title: 'Fairness',
    says: "Conditions with several flows: Jain's index and the difference of the first two, with intervals, per phase.",
  },
  {
    name: 'statistics.csv',
    title: 'Statistics',
    says: 'Each condition against the first: paired difference, intervals, statistical power, adjusted p values.',
  },
  {
    name: 'outliers.csv',
    title: 'Values that stand out',
    says: 'Values far from their median, with their runs. They stay in every statistic.',
  },
  {
    name: 'archive.zip',
    title: 'Everything',
    says: 'The campaign with its traces as Parquet and a list of checksums. Can be loaded into another Downlink.',
  },
] as const

const FORMS = [
  { value: '', label: 'Plain CSV' },
  { value: 'comma', label: 'Spreadsheet: comma, decimal point' },
  { value: 'semicolon', label: 'Spreadsheet: semicolon, decimal comma' },
  { value: 'tab', label: 'Spreadsheet: tab, decimal point' },
]

/** Tables of so many runs are read at once, to say what is in them; of more, or while runs are added, when somebody asks for it. */
const FEW_RUNS = 100

/** isVisited: by somebody who may read this campaign alone; an archive says more than that. */
export function DownloadsTab({ campaign, isVisited = false }: { campaign: CampaignDetail; isVisited?: boolean }) {
  const files = isVisited ? FILES.filter(({ name }) => name !== 'archive.zip') : FILES
  const size = useDataSize(campaign.id, !isVisited).data
  const [form, setForm] = useState('')
  const [isAsked, setIsAsked] = useState(campaign.ended_at !== null && campaign.runs_total <= FEW_RUNS)
  const base = `${API}/campaigns/${campaign.id}`
  const tables = files.map(({ name }) => name).filter((name) => name.endsWith('.csv'))
  const facts = useTableFacts(base, tables, isAsked)
  return (
    <Panel
      title="Downloads"
      description="CSV: one header line, units in the names, moments in UTC (ISO 8601), an empty cell where there is no value. Traces of single flows are on each run's page."
      actions={
        isAsked ? null : (
          <Button size="xs" variant="light" onClick={() => setIsAsked(true)}>
            Rows and first lines
          </Button>
        )
      }
    >
      <NativeSelect
        label="Form of the tables"
        description="Plain keeps every digit, for programs. The spreadsheet form has 15 digits, and empty cells for thresholds that were never set."
        maw={440}
        mb="md"
        mx="md"
        data={FORMS}
        value={form}
        onChange={(event) => setForm(event.currentTarget.value)}
      />
      <div className={classes.downloads}>
        {files.map((file) => (
          <div key={file.name} className={classes.download}>
            <Text fw={600}>{file.title}</Text>
            <Text size="sm" c="dimmed">
              {file.says}
            </Text>
            <Button
              component="a"
              size="xs"
              variant="default"
              href={`${base}/${file.name}${form && file.name.endsWith('.csv') ? `?spreadsheet=${form}` : ''}`}
              download
              aria-label={`Download ${file.name}`}
            >
              {file.name}
            </Button>
            {file.name === 'archive.zip' && size ? (
              <Text size="xs" c="dimmed">
                {formatBytes(size.traces_bytes)} of samples, and the tables
              </Text>
            ) : null}
            {isAsked && file.name.endsWith('.csv') ? <Facts name={file.name} facts={facts[file.name]} /> : null}
          </div>
        ))}
      </div>
    </Panel>
  )
}

/** undefined: it is being read. null: it could not be. */
function Facts({ name, facts }: { name: string; facts: TableFacts | null | undefined }) {
  if (!facts)
    return (
      <Text size="xs" c="dimmed">
        {facts === undefined ? 'Counting rows …' : 'Its rows could not be counted.'}
      </Text>
    )
  return (
    <details className={classes.inside}>
      <summary>
        {plural(facts.rows, 'row')}, {formatBytes(facts.bytes)}
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so that keys must reach it */}
      <pre role="region" aria-label={`First lines of ${name}`} tabIndex={0}>
        {facts.lines.join('\n')}
      </pre>
    </details>
  )
}
