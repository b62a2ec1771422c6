import { SegmentedControl } from '@mantine/core'

interface FlowChoiceProps {
  /** Of the run. cc: what the choice says beside its number; null where that is not known. */
  flows: readonly { flow: number; cc: string | null }[]
  flow: number
  onFlow: (flow: number) => void
}

/** Which flow of a run is looked at; nothing where there is one. */
export function FlowChoice({ flows, flow, onFlow }: FlowChoiceProps) {
  if (flows.length < 2) return null
  return (
    <SegmentedControl
      aria-label="Flow"
      size="xs"
      style={{ alignSelf: 'flex-start' }}
      value={String(flow)}
      onChange={(value) => onFlow(Number(value))}
      data={flows.map((one) => ({ value: String(one.flow), label: `Flow ${one.flow}: ${one.cc ?? 'unknown'}` }))}
    />
  )
}
