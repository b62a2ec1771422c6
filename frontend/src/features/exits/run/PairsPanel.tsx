import { Table, Text } from '@mantine/core'
import type { FlowExits, PacketPairs, Run, Verdict } from '@/api/types'
import { binShapes } from '@/charts/binShapes'
import { Drawing } from '@/charts/Drawing'
import { SaveMenu } from '@/charts/SaveMenu'
import { formatNumber } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { type DecadeAxis, pairAxis, seconds, upperMedian } from './exits'
import classes from './exits.module.css'
import { decadeTicks, pairBins, pairsFigure } from './pairs'

const [WIDTH, HEIGHT, LABEL_ROOM] = [300, 34, 18]

/** BEST's packet-pair estimates of rounds 1 to 5, and the ssthresh that it takes from them. */
export function PairsPanel({ run, flow, isImported }: { run: Run; flow: FlowExits; isImported: boolean }) {
  const best = flow.verdicts.find(({ detector }) => detector === 'best')
  const description = best?.is_decidable ? aim(best) : undefined
  const rounds = flow.packet_pairs
  return (
    <Panel
      title="Packet pairs of BEST"
      {...(description ? { description } : {})}
      actions={rounds ? <SaveMenu what="Packet pairs" figure={() => pairsFigure(run, flow.flow, rounds, description)} /> : null}
      isFlush={rounds !== null}
    >
      {rounds ? (
        <Rounds rounds={rounds} />
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
          <Drawing width={WIDTH} height={HEIGHT} shapes={binShapes(pairBins(estimates_mbps, axis), WIDTH, HEIGHT)} />
        )}
      </Table.Td>
      <Table.Td ta="right">{formatNumber(median)}</Table.Td>
      <Table.Td ta="right">{estimates_mbps.filter((mbps) => mbps === 0).length}</Table.Td>
    </Table.Tr>
  )
}

/** The decades' ends above the distributions that they hold for. */
function Decades({ axis }: { axis: DecadeAxis }) {
  return (
    <svg
      width={WIDTH + 2 * LABEL_ROOM}
      height={12}
      aria-hidden="true"
      className={classes.decades}
      style={{ marginInlineStart: -LABEL_ROOM }}
    >
      {decadeTicks(axis).map(({ at, text }) => (
        <text key={text} x={LABEL_ROOM + WIDTH * at} y={10} textAnchor="middle">
          {text}
        </text>
      ))}
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
