import { NO_VALUE } from './format'

interface Published {
  least: number | null
  most: number | null
  unit: string
  share?: number | null | undefined
}

/** "8 s", "800 to 1,200 ms", "at least 0.97", "180 ms at 80 %". */
export function publishedText({ least, most, unit, share }: Published): string {
  const end = (value: number | null) => (value === null ? NO_VALUE : formatShort(value))
  const said = () => {
    if (least === most) return end(least)
    if (least === null) return `at most ${end(most)}`
    return most === null ? `at least ${end(least)}` : `${end(least)} to ${end(most)}`
  }
  const at = share == null ? '' : ` at ${formatShort(100 * share)} %`
  return `${said()} ${unit}`.trim() + at
}

/** A number as a paper prints it: no more digits than it has. */
export const formatShort = (value: number) => value.toLocaleString('en-GB', { maximumFractionDigits: 3 }).replace('-', '−')

type Reading = 'inside' | 'near' | 'outside' | 'too_few' | 'not_run'

export const READINGS: Readonly<Record<Reading, string>> = {
  inside: 'inside',
  near: 'within tolerance',
  outside: 'outside',
  too_few: 'too few runs',
  not_run: 'not run yet',
}
