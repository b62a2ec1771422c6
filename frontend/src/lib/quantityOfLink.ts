interface Bin {
  /** When it begins, in UTC. */
  at: string
  low: number
  mean: number
  high: number
}

/** Units at the end of names: they are said beside the title. */
const UNIT = /(?<=[a-z0-9])_(mm_per_h|m_per_s|c|percent|hpa|ms|s|bps|deg|ratio)$/

/** `dish.obstruction_ratio` as people read it: "Dish: obstruction". */
export function quantityTitle(name: string): string {
  const [of = '', what = ''] = name.split('.')
  return `${of.charAt(0).toUpperCase()}${of.slice(1)}: ${what.replace(UNIT, '').replaceAll('_', ' ')}`
}

/** The bins of a strip with their moments in seconds since 1970. */
export const binsOf = ({ bins }: { bins: readonly Bin[] }) =>
  bins.map(({ at, low, mean, high }) => ({ at_s: Date.parse(at) / 1000, low, mean, high }))
