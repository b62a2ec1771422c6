/**
 * Series styles: Okabe and Ito's hues, each with a light and a dark shade of at least 3:1 against its background,
 * and a dash pattern of its own, so that no series is told by colour alone.
 */
export interface SeriesStyle {
  light: string
  dark: string
  dash: string
}

export const BACKGROUND = { light: '#ffffff', dark: '#1b1f27' } as const

export const SERIES_STYLES: readonly SeriesStyle[] = [
  { light: '#0068a8', dark: '#5bb0ec', dash: '0' },
  { light: '#cf5400', dark: '#ff9350', dash: '7 3' },
  { light: '#00805d', dark: '#35c79b', dash: '2 2.5' },
  { light: '#a8437f', dark: '#ea9fcb', dash: '9 3 2 3' },
  { light: '#8a6a00', dark: '#e3c54a', dash: '0' },
  { light: '#4d5360', dark: '#b9bfca', dash: '7 3' },
  { light: '#2b83ba', dark: '#9fd4f7', dash: '2 2.5' },
  { light: '#b3261e', dark: '#ff8a80', dash: '9 3 2 3' },
]

/** Styles repeat after the eighth series; the dash moves on by one each round so that a pair stays unique. */
export function seriesStyle(index: number): { color: string; dash: string } {
  const slot = index % SERIES_STYLES.length
  const round = Math.floor(index / SERIES_STYLES.length)
  const dash = SERIES_STYLES[(slot + round) % SERIES_STYLES.length]?.dash ?? '0'
  return { color: `var(--series-${slot + 1})`, dash }
}

/** CSS variables `--series-1` … for one colour scheme. */
export function seriesVariables(scheme: 'light' | 'dark'): Record<string, string> {
  return Object.fromEntries(SERIES_STYLES.map((style, index) => [`--series-${index + 1}`, style[scheme]]))
}
