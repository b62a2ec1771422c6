import type { Plugin } from 'vite'

const STUB = '\0table-scroll-container'

/**
 * Mantine's table brings its scroll area along, and with it a library that places what floats: 15 kB before the first chart.
 * Tables scroll by CSS here (ui/ScrollTable, ui/ScrollBox), so that part of it is left out.
 */
export function bareTable(): Plugin {
  return {
    name: 'bare-table',
    enforce: 'pre',
    apply: 'build',
    resolveId: (id) => (id.endsWith('/TableScrollContainer.mjs') ? STUB : null),
    load: (id) => (id === STUB ? 'export const TableScrollContainer = undefined' : null),
  }
}
