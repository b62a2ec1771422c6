/** A stretch of time of one quantity: the least, the mean and the greatest value in it. */
export interface QuantityBin {
  at_s: number
  low: number
  mean: number
  high: number
}

export interface QuantityBox {
  left: number
  top: number
  width: number
  height: number
}

/** Beyond this many times the usual distance between two bins nothing was observed: the line has a gap there. */
const GAP = 5

/** The stretches without a gap. */
export function stretchesOf(bins: readonly QuantityBin[]): QuantityBin[][] {
  const steps = bins.slice(1).map((bin, index) => bin.at_s - (bins[index]?.at_s ?? bin.at_s))
  const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0
  return bins.reduce<QuantityBin[][]>((stretches, bin, index) => {
    const last = stretches.at(-1)
    if (last && (steps[index - 1] ?? 0) <= usual * GAP) last.push(bin)
    else stretches.push([bin])
    return stretches
  }, [])
}

/** The least and the greatest value, a little apart where they are one. */
export function rangeOf(bins: readonly QuantityBin[]): [number, number] {
  const low = bins.reduce((least, bin) => Math.min(least, bin.low), Number.POSITIVE_INFINITY)
  const high = bins.reduce((most, bin) => Math.max(most, bin.high), Number.NEGATIVE_INFINITY)
  if (low < high) return [low, high]
  const room = Math.abs(low) / 10 || 1
  return low >= 0 ? [Math.max(0, low - room), low + room] : [low - room, low + room]
}

/** From a moment and a value to pixels. */
export function placer(box: QuantityBox, from_s: number, to_s: number, [low, high]: readonly [number, number]) {
  const span_s = Math.max(to_s - from_s, 1e-9)
  return {
    x: (at_s: number) => box.left + ((at_s - from_s) / span_s) * box.width,
    y: (value: number) => box.top + (1 - (value - low) / (high - low)) * box.height,
  }
}

/** The mean as a line, and the band from the least to the greatest value, as SVG paths. */
export function pathsOf(stretch: readonly QuantityBin[], { x, y }: ReturnType<typeof placer>): { mean: string; band: string } {
  const point = (at_s: number, value: number) => `${x(at_s).toFixed(1)},${y(value).toFixed(1)}`
  const above = stretch.map(({ at_s, high }) => point(at_s, high))
  const below = stretch.map(({ at_s, low }) => point(at_s, low)).reverse()
  return { mean: `M${stretch.map(({ at_s, mean }) => point(at_s, mean)).join('L')}`, band: `M${[...above, ...below].join('L')}Z` }
}
