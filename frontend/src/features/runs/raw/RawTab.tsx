import { MultiSelect, Stack } from '@mantine/core'
import type { Run, RunFlow } from '@/api/types'
import { CursorProvider } from '@/charts/cursor'
import type { SearchChange } from '@/lib/search'
import { UNDER_WAY } from '@/lib/states'
import { Empty } from '@/ui/Empty'
import { FlowChoice } from '@/ui/FlowChoice'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import type { RawSearch } from '../search'
import { inOrder, isPoint, keyText, MOST_PANELS, type PointName, panelKeys, pointTitle, USUAL_FIELDS } from './fields'
import { LinkQuantities } from './LinkQuantities'
import { type Traces, useSamples, useTraces } from './queries'
import { RawStack } from './RawStack'
import type { Span } from './span'

interface RawTabProps {
  run: Run
  search: RawSearch
  onSearch: (change: SearchChange<RawSearch>) => void
}

/** Every field of sender, relays, receiver and link log, from the whole run down to single samples. */
export function RawTab(props: RawTabProps) {
  const { run, search } = props
  const flow = run.flows.find((one) => one.flow === search.flow) ?? run.flows[0]
  const there = flow ? sealedPoints(run, flow) : []
  if (!flow || there.length === 0) return <NotYet run={run} />
  return (
    <Stack gap="lg">
      <Sealed key={flow.flow} {...props} flow={flow.flow} there={there} />
      <LinkQuantities run={run} />
    </Stack>
  )
}

function sealedPoints(run: Run, { traces, hops = [] }: RunFlow): PointName[] {
  const all: [string, { chunks: number; state: string } | undefined][] = [
    ['sender', traces.sender],
    ['receiver', traces.receiver],
    ['link', run.link_log?.trace],
    ...hops.map(({ point, trace }): [string, { chunks: number; state: string }] => [point, trace]),
  ]
  const sealed = all.filter(([, trace]) => trace && trace.chunks > 0 && trace.state !== 'open')
  return sealed
    .map(([point]) => point)
    .filter(isPoint)
    .sort(inOrder)
}

function NotYet({ run }: { run: Run }) {
  const isToCome = run.state === 'planned' || UNDER_WAY.includes(run.state)
  return (
    <Panel title="Samples">
      <Empty title="No samples yet">
        {isToCome
          ? 'Agents upload them once the run has ended and the hosts are restored. This page then updates by itself.'
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
  const wanted = { run_id: run.id, flow, columns: there.map((point) => ({ point, names: columns(point) })), span: asked }
  const queries = useSamples(wanted)
  const traces = useTraces(wanted, queries)
  const failed = queries.find(({ error, data }) => error && !data)
  return (
    <Panel
      title="Samples"
      description="Every field as sampled, on the run's clock. Drag over a chart to zoom, down to single samples; the browser's Back undoes it."
      isFlush
    >
      <Stack gap="sm" px="md" pb="sm">
        <FlowChoice
          flows={run.flows.map((one) => ({ flow: one.flow, cc: one.actual_cc ?? one.asked_cc }))}
          flow={flow}
          onFlow={(next) => onSearch({ flow: next })}
        />
        <MultiSelect
          label="Fields"
          size="xs"
          searchable
          clearable
          maxValues={MOST_PANELS}
          value={keys.map(keyText)}
          onChange={(fields) => onSearch({ fields })}
          data={there.map((point) => ({ group: pointTitle(point), items: choices(point, traces, columns(point)) }))}
        />
      </Stack>
      {failed ? <ProblemAlert error={failed.error} onRetry={() => void failed.refetch()} /> : null}
      <CursorProvider>
        <RawStack
          {...{ run, flow, keys, traces, asked }}
          isFetching={queries.some(({ isFetching }) => isFetching)}
          onZoom={(zoom) => onSearch((latest) => stretch(zoom(latest)))}
        />
      </CursorProvider>
    </Panel>
  )
}

const stretch = (span: Span | undefined) => ({ from_s: span?.from_s, to_s: span?.to_s })

/** What the trace has; until it is known, what is shown. */
function choices(point: PointName, traces: Traces, shown: string[]): { value: string; label: string }[] {
  const names = traces[point]?.fields.map(({ name }) => name) ?? shown
  return [...new Set([...names, ...shown])].map((name) => ({ value: keyText({ point, name }), label: `${point} · ${name}` }))
}
