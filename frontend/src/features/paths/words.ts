import type { PathPlace, PathStay, PathWindow, ReadyPath, SatellitePath } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { formatInstant } from '@/lib/time'

/** "New York" of "new-york". */
export const placeName = (name: string): string =>
  name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')

export const nodeName = ({ name, node }: Pick<PathPlace, 'name' | 'node'>): string =>
  name === null ? `satellite ${node}` : placeName(name)

/** "London → satellites 12, 13 → New York"; nothing where there is no path. */
export function routeText(places: readonly PathPlace[]): string {
  const parts: string[] = []
  let run: number[] = []
  const close = () => {
    if (run.length > 0) parts.push(`${run.length === 1 ? 'satellite' : 'satellites'} ${run.join(', ')}`)
    run = []
  }
  for (const place of places) {
    if (place.name === null) run.push(place.node)
    else {
      close()
      parts.push(nodeName(place))
    }
  }
  close()
  return parts.join(' → ')
}

/** The UTC time so long after the path's start. */
export const timeAt = (start: string, at_us: number): string => formatInstant(new Date(Date.parse(start) + at_us / 1000).toISOString())

/** What holds at the window's moment. */
export function heldAt({ at_us, points, stays }: PathWindow): { delay_ms: number | null; hops: number; stay: PathStay | undefined } {
  const point = points.find((one) => one.at_us >= at_us) ?? points.at(-1)
  const stay = stays.find((one) => at_us < one.to_us) ?? stays.at(-1)
  return { delay_ms: point?.delay_ms ?? null, hops: stay?.hops ?? 0, stay }
}

export const delayText = (delay_ms: number | null): string => (delay_ms === null ? 'no path' : `${formatNumber(delay_ms, 2)} ms`)

/** What a ready-made path is, if the server still knows it. */
export const whatOf = (ready: readonly ReadyPath[] | undefined, path: Pick<SatellitePath, 'ready'>): string | undefined =>
  ready?.find(({ name }) => name === path.ready)?.what

/** "least median most" of a spread. */
export const spreadText = (
  spread: { least: number; median: number; most: number } | null,
  unit: string,
  factor = 1,
  decimals?: number,
): string =>
  spread === null
    ? 'no path'
    : `${formatNumber(spread.median * factor, decimals)} (${formatNumber(spread.least * factor, decimals)} to ${formatNumber(spread.most * factor, decimals)})${unit && ` ${unit}`}`

/** A header's parts that pages name; the whole header is in the file. */
export interface PathHeader {
  start: string
  program: string
  step_ms: number
  least_elevation_deg: number
  isl: string
  seed: number
  constellation: { code: string | null; file: string | null; satellites: number }
  stations: { name: string; latitude_deg: number; longitude_deg: number }[]
  route: { rule: string; stay_s: number; slot_s: number }
  links: { radio: { frequency_ghz: number; bandwidth_mhz: number }; isl_rate_bps: number }
}

/** docs/paths.md section 2.1 says what the keys are; every ready path has all of them. */
export const headerOf = ({ header }: Pick<SatellitePath, 'header'>): PathHeader => header as unknown as PathHeader
