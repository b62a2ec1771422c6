/**
 * The one scale that charts here have: linear, from one number to another. The build gives it to Recharts in the place of d3-scale
 * (scripts/bareCharts.ts). It computes as d3-scale does, so that every pixel stays where it is.
 */
interface LinearScale {
  (value: number | null | undefined): number | undefined
  domain(): number[]
  domain(bounds: Iterable<number>): LinearScale
  range(): number[]
  range(bounds: Iterable<number>): LinearScale
  copy(): LinearScale
}

export function scaleLinear(): LinearScale {
  let domain = [0, 1]
  let range = [0, 1]
  function scale(value: number | null | undefined) {
    const x = value == null ? Number.NaN : +value
    return Number.isNaN(x) ? undefined : between(range, portion(domain, x))
  }
  return Object.assign(scale, {
    domain(bounds?: Iterable<number>) {
      if (!bounds) return [...domain]
      domain = Array.from(bounds, Number)
      return scale
    },
    range(bounds?: Iterable<number>) {
      if (!bounds) return [...range]
      range = [...bounds]
      return scale
    },
    copy: () => scaleLinear().domain(domain).range(range),
  }) as LinearScale
}

const portion = ([from = 0, to = 0]: number[], x: number) => (to === from ? 0.5 : (x - from) / (to - from))
const between = ([from = 0, to = 0]: number[], t: number) => from * (1 - t) + to * t
