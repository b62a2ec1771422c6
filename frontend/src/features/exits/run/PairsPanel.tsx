import { Table, Text } from '@mantine/core'
import type { FlowExits, PacketPairs, Verdict } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { type DecadeAxis, decadeCounts, decadeShare, pairAxis, seconds, upperMedian } from './exits'
import classes from './exits.module.css'

const [WIDTH, HEIGHT, BINS, LABEL_ROOM] = [300, 34, 40, 18]

/** BEST's packet-pair estimates of rounds 1 to 5, and the ssthresh that it takes from them. */
export function PairsPanel({ flow, isImported }: { flow: FlowExits; isImported: boolean }) {
  const best = flow.verdicts.find(({ detector }) => detector === 'best')
  return (
    <Panel title="Packet pairs of BEST" {...(best?.is_decidable ? { description: aim(best) } : {})} isFlush={flow.packet_pairs !== null}>
      {flow.packet_pairs ? (
        <Rounds rounds={flow.packet_pairs} />
      ) : (
        <Text size="sm">
          BEST measures the spacing of single ACKs, and this trace has polls.
          {isImported ? null : (
            <>
              {' '}
              Set <code>sampling: per_ack</code> in the campaign file.
            </>
          )}
        </Text>
      )}
    </Panel>
  )
}

function Rounds({ rounds }: { rounds: PacketPairs[] }) {
  const axis = pairAxis(rounds)
  return (
    <ScrollTable label="Packet-pair estimates per round">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Round</Table.Th>
          <Table.Th scope="col" ta="right">
            Opened, s
          </Table.Th>
          <Table.Th scope="col" ta="right">
            Estimates
          </Table.Th>
          <Table.Th scope="col">
            Distribution, Mb/s
            <Decades axis={axis} />
          </Table.Th>
          <Table.Th scope="col" ta="right">
            Median, Mb/s
          </Table.Th>
          <Table.Th scope="col" ta="right">
            Zero
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rounds.map((one) => (
          <Row key={one.round} {...one} axis={axis} />
        ))}
      </Table.Tbody>
    </ScrollTable>
  )
}

function Row({ round, opened_us, estimates_mbps, axis }: PacketPairs & { axis: DecadeAxis }) {
  const median = upperMedian(estimates_mbps)
  return (
    <Table.Tr>
      <Table.Th scope="row">{round}</Table.Th>
      <Table.Td ta="right">{formatNumber(seconds(opened_us), 3)}</Table.Td>
      <Table.Td ta="right">{estimates_mbps.length}</Table.Td>
      <Table.Td>
        {median === null ? (
          'none: the window is still below 16 segments'
        ) : (
          <Bars counts={decadeCounts(estimates_mbps, axis, BINS)} median={median > 0 ? decadeShare(median, axis) : null} />
        )}
      </Table.Td>
      <Table.Td ta="right">{formatNumber(median)}</Table.Td>
      <Table.Td ta="right">{estimates_mbps.filter((mbps) => mbps === 0).length}</Table.Td>
    </Table.Tr>
  )
}

/** The decades' ends above the distributions that they hold for. */
function Decades({ axis }: { axis: DecadeAxis }) {
  const exponents = Array.from({ length: axis.last - axis.first + 1 }, (_, place) => axis.first + place)
  return (
    <svg
      width={WIDTH + 2 * LABEL_ROOM}
      height={12}
      aria-hidden="true"
      className={classes.decades}
      style={{ marginInlineStart: -LABEL_ROOM }}
    >
      {exponents.map((exponent) => (
        <text key={exponent} x={LABEL_ROOM + WIDTH * decadeShare(10 ** exponent, axis)} y={10} textAnchor="middle">
          {(10 ** exponent).toLocaleString('en-GB')}
        </text>
      ))}
    </svg>
  )
}

function Bars({ counts, median }: { counts: number[]; median: number | null }) {
  const most = Math.max(1, ...counts)
  const step = WIDTH / counts.length
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true" style={{ display: 'block' }}>
      <line x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--chart-axis)" />
      {counts.map((count, bin) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: a bin is its place
          key={bin}
          x={bin * step}
          width={step - 1}
          y={(HEIGHT - 4) * (1 - count / most) + 3}
          height={((HEIGHT - 4) * count) / most}
          fill="var(--series-7)"
        />
      ))}
      {median !== null ? (
        <line x1={median * WIDTH} x2={median * WIDTH} y1={0} y2={HEIGHT} stroke="var(--chart-cursor)" strokeWidth={2} />
      ) : null}
    </svg>
  )
}

/** "At 3.1 s, the opening of round 5, …" or why not. */
function aim({ quantities: q, reason }: Verdict): string {
  if (typeof q.ssthresh_segments !== 'number') return `No ssthresh: ${reason}.`
  const [mbps, rtt_us, set_us] = [Number(q.estimate_mbps), Number(q.rtt_us), Number(q.ssthresh_set_us)]
  return (
    `At ${formatNumber(seconds(set_us))} s, the opening of round ${q.round}, BEST would set ssthresh to ${formatNumber(q.ssthresh_segments, 0)} segments: ` +
    `${mbps} Mb/s, the median of the round before, over an RTT of ${formatNumber(rtt_us / 1000)} ms.`
  )
}
