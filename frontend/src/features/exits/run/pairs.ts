import type { PacketPairs, Run } from '@/api/types'
import type { BinRow, BinTick } from '@/charts/binShapes'
import type { Figure } from '@/charts/figure'
import { binsPanel } from '@/charts/panels'
import type { Cell } from '@/charts/table'
import { captionOf, fileName } from '@/lib/captions'
import { formatNumber } from '@/lib/format'
import { runSentence } from '@/lib/runs'
import { type DecadeAxis, decadeCounts, decadeShare, pairAxis, seconds, upperMedian } from './exits'

const BINS = 40

/** The decades' ends. */
export function decadeTicks(axis: DecadeAxis): BinTick[] {
  const exponents = Array.from({ length: axis.last - axis.first + 1 }, (_, place) => axis.first + place)
  return exponents.map((exponent) => ({ at: decadeShare(10 ** exponent, axis), text: (10 ** exponent).toLocaleString('en-GB') }))
}

/** A round's estimates in bins, with the median as BEST takes it. */
export function pairBins(estimates_mbps: readonly number[], axis: DecadeAxis): Omit<BinRow, 'label'> {
  const median = upperMedian(estimates_mbps)
  return { counts: decadeCounts(estimates_mbps, axis, BINS), mark: median !== null && median > 0 ? decadeShare(median, axis) : null }
}

const zeros = ({ estimates_mbps }: PacketPairs) => estimates_mbps.filter((mbps) => mbps === 0).length

function rowOf(one: PacketPairs, axis: DecadeAxis): BinRow {
  const { round, opened_us, estimates_mbps } = one
  const median = upperMedian(estimates_mbps)
  const found =
    median === null ? 'no estimate' : `${estimates_mbps.length} estimates, ${zeros(one)} of zero, median ${formatNumber(median)} Mb/s`
  return { label: `Round ${round}, opened at ${formatNumber(seconds(opened_us), 3)} s: ${found}`, ...pairBins(estimates_mbps, axis) }
}

/** A row per round and bin: its ends, and how many estimates fell into it. */
function binRows(one: PacketPairs, axis: DecadeAxis): Cell[][] {
  const end = (bin: number) => 10 ** (axis.first + ((axis.last - axis.first) * bin) / BINS)
  const shared: Cell[] = [one.round, seconds(one.opened_us)]
  return decadeCounts(one.estimates_mbps, axis, BINS).map((count, bin) => [
    ...shared,
    end(bin),
    end(bin + 1),
    count,
    upperMedian(one.estimates_mbps),
    zeros(one),
  ])
}

/** BEST's packet-pair estimates of each round over one logarithmic axis. aim: what BEST makes of them, in words. */
export function pairsFigure(run: Run, flow: number, rounds: readonly PacketPairs[], aim?: string): Figure {
  const axis = pairAxis(rounds)
  const rows = rounds.map((one) => rowOf(one, axis))
  return {
    file: fileName('run', run.condition, `cycle ${run.cycle}`, `flow ${flow}`, 'packet pairs'),
    title: 'Packet pairs of BEST',
    columns: [{ panels: [binsPanel('Estimates (Mb/s)', rows, decadeTicks(axis))] }],
    legend: [],
    xTitle: 'Mb/s, logarithmic',
    caption: captionOf(
      `Packet-pair estimates of flow ${flow} by round (n = 1). Line: the median that BEST takes. Estimates of zero have no bar.`,
      aim,
      runSentence(run),
    ),
    table: {
      heads: ['Round', 'Opened (s)', 'From (Mb/s)', 'To (Mb/s)', 'Estimates', 'Median (Mb/s)', 'Estimates of zero'],
      rows: rounds.flatMap((one) => binRows(one, axis)),
    },
  }
}
