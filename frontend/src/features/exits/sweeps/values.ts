import type { SweptParameter } from '@/api/types'

/** As many parameter sets as the server takes. */
export const MAX_SETS = 1000

const STRETCH = /^(\S+)\s*\.\.\s*(\S+)\s+by\s+(\S+)$/

/** A list as a person types it: "2.5, 3, 3.5" or "20..50 by 5", in rising order and each value once; a sentence where it is wrong. */
export function parseValues(text: string, { name, low, high, unit }: SweptParameter): number[] | string {
  const values: number[] = []
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue
    const found = STRETCH.exec(part)
    const expanded = found ? stretch(Number(found[1]), Number(found[2]), Number(found[3])) : [Number(part)]
    if (expanded === null || expanded.some((value) => !Number.isFinite(value)))
      return `“${part}” is not a number; write 20, 30 or 20..50 by 5`
    values.push(...expanded)
  }
  if (values.length === 0) return 'Give at least one value'
  const outside = values.find((value) => value < low || value > high)
  if (outside !== undefined) return `${name} must be from ${low} to ${high}${unit ? ` ${unit}` : ''}, not ${outside}`
  return [...new Set(values)].sort((a, b) => a - b)
}

/** From a first to a last value; null when the step leads nowhere or too far. */
function stretch(first: number, last: number, step: number): number[] | null {
  const count = Math.floor((last - first) / step + 1e-9)
  if (!(step > 0) || !(count >= 0 && count < MAX_SETS)) return null
  return Array.from({ length: count + 1 }, (_, index) => Number((first + index * step).toPrecision(12)))
}

/** More values than these are told by their ends and number. */
const MOST_LISTED = 8

/** "20, 25, 30", or "2 to 5 in 31 values". */
export function valuesText(values: readonly number[]): string {
  return values.length > MOST_LISTED ? `${values[0]} to ${values.at(-1)} in ${values.length} values` : values.join(', ')
}

/** How many combinations a grid has. */
export function setCount(grid: Readonly<Record<string, readonly number[]>>): number {
  return Object.values(grid).reduce((product, values) => product * values.length, 1)
}
