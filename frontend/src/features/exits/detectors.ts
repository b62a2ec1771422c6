import type { CampaignSpec } from '@/api/types'
import type { Glyph } from '@/charts/marks'

/** What tells a detector apart from the others, in the API's words. `detect` is HyStart's mask. */
export interface DetectorIdentity {
  detector: string
  version: string
  detect: number | null
}

/** How a detector is written and drawn. Colour, dash, glyph and code belong to it on every page. */
export interface DetectorLook {
  key: string
  name: string
  code: string
  style: number
  glyph: Glyph
}

type Row = [key: string, name: string, code: string, style: number, glyph: Glyph]

/** In the order of the API. Those with a style below 8 have a hue of their own; HyStart's masks share their kernel's. */
export const LOOKS: readonly Row[] = [
  ['observed_exit', 'Observed exit', 'obs', 5, 'circle'],
  ['first_loss', 'First loss (dp)', 'dp', 7, 'cross'],
  ['search 1.0', 'SEARCH 1.0 (ex)', 'ex', 0, 'square'],
  ['search 3.1', 'SEARCH 3.1', 'S3', 2, 'square'],
  ['search 4.0', 'SEARCH 4.0, exit rule', 'S4', 3, 'square'],
  ['hystart 6.x 3', 'HyStart 6.x, both', 'H6', 1, 'triangle'],
  ['hystart 6.x 1', 'HyStart 6.x, ACK train', 'H6t', 9, 'triangle'],
  ['hystart 6.x 2', 'HyStart 6.x, delay', 'H6d', 17, 'triangle'],
  ['hystart 5.10 3', 'HyStart 5.10, both', 'H5', 12, 'triangle'],
  ['hystart 5.10 1', 'HyStart 5.10, ACK train', 'H5t', 20, 'triangle'],
  ['hystart 5.10 2', 'HyStart 5.10, delay', 'H5d', 28, 'triangle'],
  ['hystart <=5.4 3', 'HyStart up to 5.4, both', 'H4', 11, 'triangle'],
  ['hystart <=5.4 1', 'HyStart up to 5.4, ACK train', 'H4t', 19, 'triangle'],
  ['hystart <=5.4 2', 'HyStart up to 5.4, delay', 'H4d', 27, 'triangle'],
  ['hystart++', 'HyStart++ (RFC 9406)', 'H++', 4, 'diamond'],
  ['mean_sd', 'Mean and deviation (Peters 2021)', 'µσ', 14, 'diamond'],
  ['best', 'BEST', 'B', 6, 'hexagon'],
]

const BY_KEY = new Map<string, DetectorLook>(LOOKS.map(([key, name, code, style, glyph]) => [key, { key, name, code, style, glyph }]))

/** How many detectors there are, and how many of them need a row per ACK; a poll is too coarse for these. */
const DETECTORS = LOOKS.length
const NEED_EVERY_ACK = LOOKS.filter(([key]) => key.startsWith('hystart') || key === 'best' || key === 'mean_sd').length

/** Shown until a reader chooses: one of each kind, the newest kernel with both of HyStart's rules. */
export const USUAL_DETECTORS: readonly string[] = LOOKS.filter(([, , , style]) => style < 8).map(([key]) => key)

const FAMILIES: Record<string, string> = { search: 'SEARCH', hystart: 'HyStart' }

/** A detector's version in words, whatever its mask. */
export function versionName(detector: string, version: string): string {
  return `${FAMILIES[detector] ?? detector} ${version}`
}

const VERSIONED = ['search', 'hystart']

export function detectorKey({ detector, version, detect }: DetectorIdentity): string {
  return [detector, VERSIONED.includes(detector) ? version : null, detect].filter((part) => part !== null).join(' ')
}

/** The look of a detector; one that this dashboard does not know yet is shown under the API's name. */
export function detectorLook(identity: DetectorIdentity): DetectorLook {
  const key = detectorKey(identity)
  return BY_KEY.get(key) ?? { key, name: versionName(identity.detector, identity.version), code: '?', style: 13, glyph: 'bar' }
}

/** Which detectors are shown: those chosen in the address, else the usual ones. */
export function isShown(key: string, chosen: readonly string[] | undefined): boolean {
  return (chosen ?? USUAL_DETECTORS).includes(key)
}

/** The choice after one detector was switched, in the order of the list. An empty choice is none, not the usual one. */
export function switched(key: string, chosen: readonly string[] | undefined, all: readonly string[]): string[] {
  return all.filter((one) => (one === key ? !isShown(one, chosen) : isShown(one, chosen)))
}

/** Which slow-start detectors the samples will be too coarse for; null where all can decide. */
export function detectorsText({ sampling }: Pick<CampaignSpec, 'sampling'>): string | null {
  if (sampling === 'per_ack') return null
  return `${NEED_EVERY_ACK} of ${DETECTORS} slow-start detectors (HyStart, HyStart++, mean and deviation, BEST) need every ACK, so they will return no verdict; turn on “Record every ACK” (sampling: per_ack).`
}
