import { MultiSelect, SegmentedControl, Stack } from '@mantine/core'
import type { Run } from '@/api/types'
import { CursorProvider } from '@/charts/cursor'
import { UNDER_WAY } from '@/lib/states'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import type { RawSearch } from '../search'
import { keyText, MOST_PANELS, POINTS, type PointName, panelKeys, USUAL_FIELDS } from './fields'
import { LinkQuantities } from './LinkQuantities'
import { useSamples } from './queries'
import { RawStack, type Traces } from './RawStack'
import type { Span } from './span'

interface RawTabProps {
  run: Run
  search: RawSearch
  onSearch: (change: RawSearch) => void
}

/** Every field of sender, receiver and link log, from the whole run down to single samples. */
export function RawTab(props: RawTabProps) {
  const { run, search } = props
  const flow = run.flows.find((one) => one.flow === search.flow) ?? run.flows[0]
  const there = POINTS.filter((point) => isSealed(run, flow?.flow, point))
  if (!flow || there.length === 0) return <NotYet run={run} />
  return (
    <Stack gap="lg">
      <Sealed key={flow.flow} {...props} flow={flow.flow} there={there} />
      <LinkQuantities run={run} />
    </Stack>
  )
}

function isSealed(run: Run, flow: number | undefined, point: PointName): boolean {
  const trace = point === 'link' ? run.link_log?.trace : run.flows.find((one) => one.flow === flow)?.traces[point]
  return trace !== undefined && trace.chunks > 0 && trace.state !== 'open'
}

function NotYet({ run }: { run: Run }) {
  const isToCome = run.state === 'planned' || UNDER_WAY.includes(run.state)
  return (
    <Panel title="Samples">
      <Empty title="No samples yet">
        {isToCome
          ? 'Agents upload them once the run has ended and the hosts are restored. This page then fills by itself.'
          : 'The run ended without a sealed trace; its reason is above. Another attempt or cycle of this condition may have one.'}
      </Empty>
    </Panel>
  )
}

interface SealedProps extends RawTabProps {
  flow: number
  there: PointName[]
}

function Sealed({ run, flow, there, search, onSearch }: SealedProps) {
  const keys = search.fields ? panelKeys(search.fields) : panelKeys(USUAL_FIELDS).filter(({ point }) => there.includes(point))
  const asked: Partial<Span> = { from_s: search.from_s, to_s: search.to_s }
  const columns = (point: PointName) => keys.filter((key) => key.point === point).map(({ name }) => name)
  const sender = useSamples(run.id, flow, 'sender', columns('sender'), asked, there.includes('sender'))
  const receiver = useSamples(run.id, flow, 'receiver', columns('receiver'), asked, there.includes('receiver'))
  const link = useSamples(run.id, flow, 'link', columns('link'), asked, there.includes('link'))
  const traces: Traces = { sender: sender.data, receiver: receiver.data, link: link.data }
  const queries = [sender, receiver, link]
  const failed = queries.find(({ error, data }) => error && !data)
  return (
    <Panel
      title="Samples"
      description="Every field as it was taken, on the run's clock. Drag over a chart to zoom, down to single samples; the browser's Back undoes it."
      isFlush
    >
      <Stack gap="sm" px="md" pb="sm">
        {run.flows.length > 1 ? (
          <SegmentedControl
            aria-label="Flow"
            size="xs"
            style={{ alignSelf: 'flex-start' }}
            value={String(flow)}
            onChange={(value) => onSearch({ flow: Number(value) })}
            data={run.flows.map((one) => ({ value: String(one.flow), label: `Flow ${one.flow}: ${one.actual_cc ?? one.asked_cc}` }))}
          />
        ) : null}
        <MultiSelect
          label="Fields"
          size="xs"
          searchable
          clearable
          maxValues={MOST_PANELS}
          value={keys.map(keyText)}
          onChange={(fields) => onSearch({ fields })}
          data={there.map((point) => ({ group: GROUPS[point], items: choices(point, traces, columns(point)) }))}
        />
      </Stack>
      {failed ? <ProblemAlert error={failed.error} onRetry={() => void failed.refetch()} /> : null}
      <CursorProvider>
        <RawStack
          {...{ run, flow, keys, traces, asked }}
          isFetching={queries.some(({ isFetching }) => isFetching)}
          onZoom={(span) => onSearch({ from_s: span?.from_s, to_s: span?.to_s })}
        />
      </CursorProvider>
    </Panel>
  )
}

const GROUPS: Record<PointName, string> = { sender: 'At the sender', receiver: 'At the receiver', link: 'Log of the emulated link' }

/** What the trace has; until it is known, what is shown. */
function choices(point: PointName, traces: Traces, shown: string[]): { value: string; label: string }[] {
  const names = traces[point]?.fields.map(({ name }) => name) ?? shown
  return [...new Set([...names, ...shown])].map((name) => ({ value: keyText({ point, name }), label: `${point} · ${name}` }))
}
