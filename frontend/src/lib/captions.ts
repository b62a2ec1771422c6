import { formatNumber, formatRate } from './format'

/** What a link allows, for reference lines and captions. */
export interface LinkLevels {
  name: string
  nominal_rate_bps: number
  base_rtt_ms: number
}

/** Those that say how much they carry: imported files do not. */
export const levelled = (links: readonly { name: string; nominal_rate_bps: number | null; base_rtt_ms: number }[]): LinkLevels[] =>
  links.flatMap(({ name, nominal_rate_bps, base_rtt_ms }) => (nominal_rate_bps === null ? [] : [{ name, nominal_rate_bps, base_rtt_ms }]))

/** What a figure says of where it comes from. */
export interface Source {
  campaign: string
  /** Whose runs are drawn, where they are of several campaigns. */
  campaigns?: readonly string[] | undefined
  link?: LinkLevels | undefined
  /** The link's name, where nothing else is known of it. */
  linkName?: string | undefined
  analysisVersion?: string | undefined
}

/** "n = 10 runs of each." or "n = 10 (Cubic), 9 (BBR)." */
export function countSentence(counts: readonly { label: string; n: number }[]): string {
  const [first] = counts
  if (!first) return ''
  if (counts.every(({ n }) => n === first.n))
    return `n = ${first.n} ${first.n === 1 ? 'run' : 'runs'}${counts.length > 1 ? ' of each' : ''}.`
  return `n = ${counts.map(({ label, n }) => `${n} (${label})`).join(', ')} runs.`
}

/** "Link geo: 144 Mb/s, base RTT 600 ms. Campaign “…”, Downlink analysis 5." */
export function sourceSentence({ campaign, campaigns = [campaign], link, linkName, analysisVersion }: Source): string {
  const over = link
    ? `Link ${link.name}: nominal rate ${formatRate(link.nominal_rate_bps)}, base RTT ${formatNumber(link.base_rtt_ms)} ms. `
    : linkName
      ? `Link ${linkName}. `
      : ''
  const of = `${campaigns.length > 1 ? 'Campaigns' : 'Campaign'} ${campaigns.map((name) => `“${name}”`).join(', ')}`
  return `${over}${of}${analysisVersion ? `, Downlink analysis ${analysisVersion}` : ''}.`
}

/** Sentences after each other; those that say nothing are left out. */
export const captionOf = (...sentences: (string | undefined)[]) => sentences.filter(Boolean).join(' ')

/** A name of a file out of names of things. */
export const fileName = (...parts: (string | undefined)[]) =>
  parts
    .filter((part): part is string => Boolean(part))
    .map((part) =>
      part
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, ''),
    )
    .filter(Boolean)
    .join('-')
    .slice(0, 120)
