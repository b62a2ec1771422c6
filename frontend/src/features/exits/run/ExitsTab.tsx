import { Alert, Stack } from '@mantine/core'
import type { FlowExits, Run, RunExits } from '@/api/types'
import { hasTcp } from '@/lib/runs'
import { UNDER_WAY } from '@/lib/states'
import { Empty } from '@/ui/Empty'
import { FlowChoice } from '@/ui/FlowChoice'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { useRunExits } from '../queries'
import type { RunExitsSearch } from '../search'
import { CurvesPanel } from './CurvesPanel'
import { PairsPanel } from './PairsPanel'
import { SlowStartPanel } from './SlowStartPanel'
import { VerdictsPanel } from './VerdictsPanel'

interface ExitsTabProps {
  run: Run
  search: RunExitsSearch
  onSearch: (change: RunExitsSearch) => void
}

/** When slow start ended, when it should have, and what each detector would have done. */
export function ExitsTab({ run, search, onSearch }: ExitsTabProps) {
  const exits = useRunExits(run.id)
  return (
    <QueryPanel query={exits} skeletonRows={10} empty={({ flows }) => (flows.length === 0 ? <NotYet run={run} /> : null)}>
      {(data) => <Flows run={run} exits={data} isImported={run.import_source != null} search={search} onSearch={onSearch} />}
    </QueryPanel>
  )
}

function NotYet({ run }: { run: Run }) {
  if (!hasTcp(run))
    return (
      <Panel>
        <Empty title="No flow of this run is TCP">INTCP and probes have no slow start. What INTCP did is on the tab Hops.</Empty>
      </Panel>
    )
  const isToCome = run.state === 'planned' || UNDER_WAY.includes(run.state)
  return (
    <Panel>
      <Empty title="No flow has been judged">
        {isToCome
          ? 'Detectors are replayed over the traces once the run has ended and they are uploaded. This page then updates by itself.'
          : 'The run ended without a sealed trace of a sender; its reason is above. Another attempt or cycle of this condition may have one.'}
      </Empty>
    </Panel>
  )
}

interface FlowsProps extends ExitsTabProps {
  exits: RunExits
  isImported: boolean
}

function Flows({ run, exits, isImported, search, onSearch }: FlowsProps) {
  const flow = exits.flows.find((one) => one.flow === search.flow) ?? exits.flows[0]
  if (!flow) return null
  return (
    <Stack gap="lg">
      <FlowChoice flows={exits.flows} flow={flow.flow} onFlow={(next) => onSearch({ flow: next, from_s: undefined, to_s: undefined })} />
      {flow.refusal ? <Refused flow={flow} /> : <Judged {...{ run, flow, isImported, search, onSearch }} />}
    </Stack>
  )
}

function Refused({ flow }: { flow: FlowExits }) {
  return (
    <Alert color="yellow" variant="light" title={`The trace of flow ${flow.flow} could not be judged: ${flow.refusal}`}>
      The run still counts, with its series and metrics. The Traces tab has the samples as they were taken.
    </Alert>
  )
}

interface JudgedProps {
  run: Run
  flow: FlowExits
  isImported: boolean
  search: RunExitsSearch
  onSearch: (change: RunExitsSearch) => void
}

function Judged({ run, flow, isImported, search, onSearch }: JudgedProps) {
  return (
    <>
      <SlowStartPanel flow={flow} isImported={isImported} />
      <CurvesPanel run={run} flow={flow} search={search} onSearch={onSearch} />
      <VerdictsPanel flow={flow} />
      <PairsPanel run={run} flow={flow} isImported={isImported} />
    </>
  )
}
