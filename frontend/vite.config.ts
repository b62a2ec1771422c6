import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'
import { bareCharts } from './scripts/bareCharts.ts'
import { bareTable } from './scripts/bareTable.ts'
import { packAssets } from './scripts/packAssets.ts'
import { mockServer } from './src/testing/mockServer.ts'

const backend = process.env.DOWNLINK_DEV_BACKEND ?? 'http://127.0.0.1:8000'

/**
 * What most pages are made of is in one file: over a satellite link a dozen small ones take as long as many large ones, six at a time.
 * Parts that bring much of a library along, as forms and sortable tables do, stay apart.
 */
const BASE = {
  name: 'base',
  test: new RegExp(
    [
      'src/(api|lib)/',
      'src/ui/(?!Choice|CopyCommand|DataTable|Dialog|OpenedMenu)',
      'src/charts/(Swatch|palette|plot|cursor|CursorSlider|layerShapes)\\.',
      '/(wording|progress|Conflicts|OriginTag|shell\\.module|campaigns\\.module)\\.',
      '@mantine/core/esm/core/',
      '@mantine/hooks/esm/(?!use-(click-outside|focus-return|focus-trap|long-press|previous|window-event)/)',
      '@mantine/core/esm/components/(SegmentedControl|NativeSelect)/',
      'node_modules/(react|react-dom|scheduler|clsx|cookie-es|seroval|openapi-fetch|openapi-react-query|@tanstack/(?!react-table|table-core)[^/]+|use-sync-external-store)/',
      'src/features/(results/(queries|campaign/search)|compare/sides)\\.',
      'src/charts/heat\\.',
      '@mantine/core/esm/components/Anchor/',
    ].join('|'),
  ),
  priority: 2,
}

/** What opens above a page: menus, lists to choose from, dialogs. No first chart waits for it. */
const ABOVE = {
  name: 'above',
  test: /@mantine\/core\/esm\/components\/(Combobox|Menu|Modal|ModalBase|Popover|Select)\/|@floating-ui\/|react-remove-scroll/,
  priority: 1,
}

/** What a campaign's first chart is made of, in one file as well: each further dozen of small ones waits for two more answers. */
const CHART = {
  name: 'chart',
  test: /src\/(features\/results\/campaign\/ResultsTab|features\/runs\/LiveFlows|features\/compare\/sides|app\/pages\/PageTabs)\./,
  priority: 1,
}

const proxyFor = (mode: string): Record<string, string> => (mode === 'mock' ? {} : { '/api': backend })

export default defineConfig(({ mode }) => ({
  plugins: [react(), bareTable(), bareCharts(), packAssets(), mode === 'mock' ? mockServer() : null],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  // Templates are files of docs/examples.
  server: { proxy: proxyFor(mode), fs: { allow: ['..'] } },
  preview: { proxy: proxyFor(mode) },
  // The page's content security policy allows fonts and images from its own origin only, so nothing becomes a data: address.
  build: {
    license: { fileName: 'licences.md' },
    assetsInlineLimit: 0,
    target: 'es2022',
    chunkSizeWarningLimit: 700,
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups: [BASE, CHART, ABOVE] } } },
  },
  test: {
    restoreMocks: true,
    unstubGlobals: true,
    // Loading what pages are made of, once per file, took as long as their tests. Each test leaves a clean page behind (setup.ts).
    isolate: false,
    // When to give up, not how long a test takes: a machine may be ten times busier than this one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Vitest leaves one core idle, which on two cores is half of them.
    maxWorkers: '100%',
    // Pure functions need no page around them, and start several times faster without one.
    projects: [
      { extends: true, test: { name: 'pure', environment: 'node', include: ['src/**/*.test.ts', 'scripts/**/*.test.ts'] } },
      {
        extends: true,
        test: { name: 'pages', environment: 'jsdom', include: ['src/**/*.test.tsx'], setupFiles: ['src/testing/setup.ts'] },
      },
    ],
  },
}))
