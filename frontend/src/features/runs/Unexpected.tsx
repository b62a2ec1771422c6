import { Alert, Text } from '@mantine/core'
import type { RunSummary } from '@/api/types'
import { StateBadge } from '@/ui/StateBadge'

export const OUTSIDE = 'outside its expected range'
type Of = Pick<RunSummary, 'unexpected'>

const keyOf = ({ expectation, flow }: NonNullable<Of['unexpected']>[number]) => `${expectation} ${flow}`

/** In a table: that numbers of a run lie outside of what its campaign expects, and which. Nothing for others. */
export function UnexpectedMark({ unexpected = [] }: Of) {
  if (unexpected.length === 0) return null
  return (
    <Text size="xs" maw={360} mt={2} component="div">
      <StateBadge state="unexpected" label={OUTSIDE} />
      {unexpected.map((each) => (
        <div key={keyOf(each)}>{each.detail}</div>
      ))}
    </Text>
  )
}

/** The same on the run's own page. */
export function UnexpectedAlert({ unexpected = [] }: Of) {
  if (unexpected.length === 0) return null
  return (
    <Alert color="yellow" variant="light" title={`Complete, but ${OUTSIDE}`}>
      {unexpected.map((each) => (
        <Text key={keyOf(each)} size="sm">
          {each.detail}
        </Text>
      ))}
    </Alert>
  )
}
