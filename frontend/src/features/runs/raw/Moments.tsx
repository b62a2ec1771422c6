import { Button, Table, Text } from '@mantine/core'
import type { RunMoment } from '@/api/types'
import { writtenOut } from '@/lib/format'
import { atSeconds, MOST_FLAGS, momentText } from './flags'
import { type Span, zoomed } from './span'
import { TallTable } from './TallTable'

const AROUND_S = 0.05
const MOST_LISTED = 100

interface MomentsProps {
  moments: RunMoment[]
  leftOut: number
  whole: Span
  onZoom: (span: Span) => void
}

/** What the flags mark, in words; each leads to the samples around it. */
export function Moments({ moments, leftOut, whole, onZoom }: MomentsProps) {
  if (moments.length === 0) return null
  const around = (at_s: number) => onZoom(zoomed({ from_s: at_s - AROUND_S, to_s: at_s + AROUND_S }, whole, 1))
  const shown = moments.slice(0, MOST_LISTED)
  const more = moments.length - shown.length + leftOut
  return (
    <>
      <TallTable label="Moments" heads={['Moment', 'At, s', 'Lasts, s', 'Samples']}>
        {shown.map((one) => (
          <Table.Tr key={`${one.kind} ${one.flow} ${one.way} ${one.at_us} ${one.text}`}>
            <Table.Th scope="row">{momentText(one)}</Table.Th>
            <Table.Td>{atSeconds(one).toFixed(3)}</Table.Td>
            <Table.Td>{one.until_us === null ? '' : ((one.until_us - one.at_us) / 1e6).toFixed(2)}</Table.Td>
            <Table.Td>
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => around(atSeconds(one))}
                aria-label={`Show the samples around: ${momentText(one)} at ${atSeconds(one).toFixed(3)} s`}
              >
                Show
              </Button>
            </Table.Td>
          </Table.Tr>
        ))}
      </TallTable>
      {more > 0 ? (
        <Text size="xs" c="dimmed" p="sm">
          {writtenOut(more, 0)} more are in the link's log.
        </Text>
      ) : null}
      {moments.length > MOST_FLAGS ? (
        <Text size="xs" c="dimmed" p="sm">
          Where more than {MOST_FLAGS} lie in the interval, those of the link are shaded without a flag.
        </Text>
      ) : null}
    </>
  )
}
