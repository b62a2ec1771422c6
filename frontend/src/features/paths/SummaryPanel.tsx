import { Stack } from '@mantine/core'
import type { SatellitePath } from '@/api/types'
import { formatBytes, formatNumber, NO_VALUE, plural } from '@/lib/format'
import { formatDuration, formatMoment } from '@/lib/time'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'
import { headerOf, type PathHeader, placeName, spreadText } from './words'

/** What the whole path is like, and what it was made with. */
export function SummaryPanel({ path }: { path: SatellitePath }) {
  return (
    <Stack gap="lg">
      <Panel title="Summary" description="Over the whole path, each second: median, with minimum and maximum in brackets.">
        <Facts items={summaryOf(path)} />
      </Panel>
      <Panel title="Made with" description="The file’s header has every number; the same numbers always give the same file.">
        <Facts items={madeWith(path, headerOf(path))} />
      </Panel>
    </Stack>
  )
}

function summaryOf({ summary, duration_us }: SatellitePath): [string, string][] {
  if (!summary) return []
  const { unreachable_s, path_changes, changes_per_minute, ground_changes_per_minute } = summary
  const share = (100 * unreachable_s) / (duration_us / 1e6)
  return [
    ['One-way delay', spreadText(summary.delay_ms, 'ms', 1, 2)],
    ['Hops', spreadText(summary.hops, '', 1, 0)],
    ['Changes of path', `${formatNumber(path_changes, 0)}, ${formatNumber(changes_per_minute)} a minute`],
    ['Of these at a station', `${formatNumber(ground_changes_per_minute)} a minute`],
    ['Without a path', `${formatDuration(unreachable_s)}, ${formatNumber(share)} %`],
    ['Rate of ground hops', spreadText(summary.rate_bps, 'Mb/s', 1e-6)],
    ['Loss of ground hops', lossText(summary.loss_ratio)],
  ]
}

function lossText(spread: { least: number; median: number; most: number } | null): string {
  if (!spread) return NO_VALUE
  const { least, median, most } = spread
  return least === most
    ? `${perMillion(median)} per million`
    : `${perMillion(median)} (${perMillion(least)} to ${perMillion(most)}) per million`
}

const perMillion = (ratio: number) => formatNumber(ratio * 1e6)

function madeWith(path: SatellitePath, header: PathHeader): [string, string][] {
  const { constellation, route, links, stations } = header
  return [
    ...stations.map((one): [string, string] => [placeName(one.name), positionText(one)]),
    ['Constellation', `${constellation.code ?? constellation.file ?? NO_VALUE}, ${plural(constellation.satellites, 'satellite')}`],
    ['Between satellites', header.isl === 'none' ? 'no hops: each satellite sees both ends' : 'hops to the four neighbours'],
    ['Least elevation', `${formatNumber(header.least_elevation_deg, 0)}°`],
    ['Route rule', ruleText(route, header.step_ms)],
    ['Radio', `${links.radio.frequency_ghz} GHz, ${links.radio.bandwidth_mhz} MHz wide`],
    ['Rate between satellites', `${formatNumber(links.isl_rate_bps * 1e-6, 0)} Mb/s`],
    ['Begins', formatMoment(header.start)],
    ['Length', formatDuration(path.duration_us / 1e6)],
    ['Made by', `${header.program}, seed ${header.seed}`],
    ['File', path.size_bytes === null ? NO_VALUE : formatBytes(path.size_bytes)],
  ]
}

const positionText = ({ latitude_deg, longitude_deg }: PathHeader['stations'][number]) =>
  `${formatNumber(Math.abs(latitude_deg), 2)}° ${latitude_deg < 0 ? 'S' : 'N'}, ${formatNumber(Math.abs(longitude_deg), 2)}° ${longitude_deg < 0 ? 'W' : 'E'}`

/** docs/paths.md section 1 has the rules. */
function ruleText({ rule, stay_s, slot_s }: PathHeader['route'], step_ms: number): string {
  const looked = `looked at each ${step_ms / 1e3} s`
  if (rule === 'shortest') return `shortest, kept for ${formatNumber(stay_s, 0)} s at least, ${looked}`
  if (rule === 'slots') return `shortest, chosen each ${formatNumber(slot_s, 0)} s, ${looked}`
  return `held until a satellite sets, ${looked}`
}
