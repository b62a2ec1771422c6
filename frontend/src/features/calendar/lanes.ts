import type { CalendarLane, CalendarLink, Calendar as Days } from '@/api/types'
import { momentText, secondsOf } from '@/charts/clock'
import { formatBytes, formatNumber, plural } from '@/lib/format'
import { type Tone, toneOf } from '@/lib/states'
import { formatMinute } from '@/lib/time'

const DAY_MS = 86_400_000

/** The day `days` after this one: "2026-11-23". */
export const shifted = (from: string, days: number): string => new Date(Date.parse(from) + days * DAY_MS).toISOString().slice(0, 10)

/** The day in which a moment lies, in UTC. */
export const dayOf = (at: string): string => at.slice(0, 10)

/** Every day of a calendar. */
export function daysOf({ from_at, to_at }: Pick<Days, 'from_at' | 'to_at'>): string[] {
  const count = Math.round((Date.parse(to_at) - Date.parse(from_at)) / DAY_MS)
  return Array.from({ length: count }, (_, index) => shifted(dayOf(from_at), index))
}

type Counts = CalendarLane['cells'][number]['counts']

/** "4 complete, 1 failed": in the order of the answer. */
export const countsText = (counts: Counts): string =>
  Object.entries(counts)
    .map(([state, count]) => `${formatNumber(count, 0)} ${state}`)
    .join(', ')

/** All runs of these cells by state. */
export function totals(cells: readonly { counts: Counts }[]): Counts {
  const sums: Record<string, number> = {}
  for (const { counts } of cells) for (const [state, count] of Object.entries(counts)) sums[state] = (sums[state] ?? 0) + count
  return sums
}

/** What a strip shows, in words: each day that has runs. */
export function laneText({ cells }: Pick<CalendarLane, 'cells'>): string {
  const days = [...new Set(cells.map(({ at }) => dayOf(at)))]
  return days.map((day) => `${day}: ${countsText(totals(cells.filter(({ at }) => dayOf(at) === day)))}`).join('; ')
}

/** A rectangle of a strip: x and width in cells, y and height in shares of its height. */
export interface Block {
  tone: Tone
  x: number
  y: number
  height: number
}

export interface StripCell {
  at: string
  text: string
  blocks: Block[]
}

/** Runs that did not end well lie above all others: their place says it, not their colour alone. */
const ABOVE = 0.26
const ORDER: readonly Tone[] = ['good', 'partial', 'active', 'waiting', 'ended']

/** A lane's cells as rectangles: each tone's part of what is not bad is its share of those runs. */
export function stripCells({ cells }: Pick<CalendarLane, 'cells'>, { from_at, cell_s }: Pick<Days, 'from_at' | 'cell_s'>): StripCell[] {
  return cells.map(({ at, counts }) => {
    const x = Math.round((secondsOf(at) - secondsOf(from_at)) / cell_s)
    const of = (tone: Tone) => Object.entries(counts).reduce((sum, [state, count]) => sum + (toneOf(state) === tone ? count : 0), 0)
    const whole = ORDER.reduce((sum, tone) => sum + of(tone), 0)
    let y = ABOVE + 0.06
    const blocks: Block[] = of('bad') > 0 ? [{ tone: 'bad', x, y: 0, height: ABOVE }] : []
    for (const tone of ORDER) {
      const height = whole === 0 ? 0 : ((1 - ABOVE - 0.06) * of(tone)) / whole
      if (height > 0) blocks.push({ tone, x, y, height })
      y += height
    }
    return { at, text: `${momentText(secondsOf(at))}: ${countsText(counts)}`, blocks }
  })
}

/** "1.20 GB carried in these days. Allowance: 3.64 GB of 5.00 GB used this month (73 %), until 1 Dec, 00:00 UTC." */
export function carriedText({
  carried_bytes,
  allowance_bytes,
  month,
}: Pick<CalendarLink, 'carried_bytes' | 'allowance_bytes' | 'month'>): string {
  const carried = `${formatBytes(carried_bytes)} carried in these days.`
  if (allowance_bytes === null || month === null) return `${carried} The link has no allowance.`
  const share = allowance_bytes > 0 ? ` (${formatNumber((100 * month.used_bytes) / allowance_bytes, 0)} %)` : ''
  return `${carried} Allowance: ${formatBytes(month.used_bytes)} of ${formatBytes(allowance_bytes)} used this month${share}, until ${formatMinute(month.resets_at)}.`
}

/** "7 runs: 4 complete, 1 failed · 1.40 GB", and of a campaign with a limit what all of it has used. */
export function lanesText(lane: CalendarLane): string {
  const parts = [`${plural(lane.runs, 'run')}: ${countsText(totals(lane.cells))}`, formatBytes(lane.carried_bytes)]
  if (lane.limit_bytes !== null) parts.push(`campaign: ${formatBytes(lane.used_bytes)} of its limit of ${formatBytes(lane.limit_bytes)}`)
  return parts.join(' · ')
}
