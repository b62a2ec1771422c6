import { Alert, type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import { heatVariables } from '@/charts/heat'
import { BACKGROUND, chartVariables, seriesVariables } from '@/charts/palette'

const signal: MantineColorsTuple = [
  '#e8f3fb',
  '#d0e5f5',
  '#a3cbe9',
  '#72afdc',
  '#4a97d1',
  '#2c86c8',
  '#1378bf',
  '#0068a8',
  '#005a93',
  '#004873',
]

/** Greys with enough contrast for dimmed text (4.5:1) and borders. */
const gray: MantineColorsTuple = [
  '#f6f7f9',
  '#eff1f4',
  '#e3e6eb',
  '#d3d8df',
  '#bcc3cd',
  '#727b89',
  '#5a6372',
  '#454d5a',
  '#2f3641',
  '#1b212b',
]

const dark: MantineColorsTuple = [
  '#dbe0e8',
  '#b8c0cc',
  '#98a2b1',
  '#7d8796',
  '#363d49',
  '#2b313b',
  '#20252e',
  '#13161c',
  '#0e1116',
  '#090b0f',
]

export const theme = createTheme({
  primaryColor: 'signal',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  colors: { signal, gray, dark },
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem', lineHeight: '1.25' }, h2: { fontSize: '1.0625rem' } } },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Modal: { styles: { content: { background: 'var(--surface)' } } },
    // Titles in the colour of their alert miss 4.5:1 on the light variants.
    Alert: Alert.extend({
      styles: { title: { color: 'var(--mantine-color-text)' } },
      vars: (_theme, { color }) => ({ root: { '--alert-color': `var(--mantine-color-${color ?? 'signal'}-6)` } }),
    }),
  },
})

/** Surfaces and chart colours beside Mantine's own variables. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--page': '#f4f6f8',
    '--surface': BACKGROUND.light,
    '--border': '#dde2e9',
    '--mantine-color-error': '#b3261e',
    ...chartVariables('light'),
    ...seriesVariables('light'),
    ...heatVariables('light'),
  },
  dark: {
    '--page': '#13161c',
    '--surface': BACKGROUND.dark,
    '--border': '#2e3541',
    '--mantine-color-error': '#ff9a92',
    ...chartVariables('dark'),
    ...seriesVariables('dark'),
    ...heatVariables('dark'),
  },
})
