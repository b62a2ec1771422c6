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
  { light: '#8a6a00', dark: '#e3c54a', dash: '16 3' },
  { light: '#4d5360', dark: '#b9bfca', dash: '4 4' },
  { light: '#2b83ba', dark: '#9fd4f7', dash: '9 3 2 3 2 3' },
  { light: '#b3261e', dark: '#ff8a80', dash: '14 3 6 3' },
]

/** Styles repeat after the eighth series; the dash moves on by one each round so that a pair stays unique. */
export function seriesStyle(index: number): { color: string; dash: string } {
  const slot = index % SERIES_STYLES.length
  const round = Math.floor(index / SERIES_STYLES.length)
  const dash = SERIES_STYLES[(slot + round) % SERIES_STYLES.length]?.dash ?? '0'
  return { color: `var(--series-${slot + 1})`, dash }
}

/** A series' colour by its name. */
export const paintOf = (style: number): `series-${number}` => `series-${(style % SERIES_STYLES.length) + 1}`

/** Colours of what is not data. */
export const CHART_COLORS = {
  light: {
    'chart-ink': '#1b212b',
    'chart-grid': '#e8ebf0',
    'chart-axis': '#aeb6c2',
    'chart-text': '#5a6372',
    'chart-level': '#727b89',
    'chart-cursor': '#1b212b',
    'chart-window-0': '#eef4f9',
    'chart-window-1': '#f2f6f0',
    'chart-night': '#e6e9f2',
    'chart-note': '#f6e3b8',
  },
  dark: {
    'chart-ink': '#dbe0e8',
    'chart-grid': '#2a303a',
    'chart-axis': '#4b5463',
    'chart-text': '#a3adbb',
    'chart-level': '#8b95a4',
    'chart-cursor': '#e6eaf0',
    'chart-window-0': '#1f2731',
    'chart-window-1': '#212a28',
    'chart-night': '#10131a',
    'chart-note': '#574617',
  },
} as const

/** The same as CSS variables. */
export const chartVariables = (scheme: 'light' | 'dark'): Record<string, string> =>
  Object.fromEntries(Object.entries(CHART_COLORS[scheme]).map(([name, color]) => [`--${name}`, color]))

/** CSS variables `--series-1` … for one colour scheme. */
export function seriesVariables(scheme: 'light' | 'dark'): Record<string, string> {
  return Object.fromEntries(SERIES_STYLES.map((style, index) => [`--series-${index + 1}`, style[scheme]]))
}
