import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

const SCALES = fileURLToPath(new URL('../src/charts/linearScale.ts', import.meta.url))
const SCALE = '\0one-scale'
const TICKS = '\0no-nice-ticks'
const SHAPES = '\0few-shapes'
const UNUSED = 'Basis BasisClosed BasisOpen BumpX BumpY LinearClosed MonotoneX MonotoneY Natural Step StepBefore'.split(' ')
const PARTS: Record<string, string> = {
  // Recharts names the scale of points in a part that no chart here uses.
  [SCALE]: `export { scaleLinear } from '${SCALES}'; export const scalePoint = undefined`,
  [TICKS]: 'export const getNiceTickValues = () => undefined; export const getTickValuesFixedDomain = () => undefined',
  [SHAPES]: `import { curveLinear } from 'victory-vendor/d3-shape'
    export { area, line, curveLinear, curveStepAfter, symbol, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar,
      symbolTriangle, symbolWye, stack, stackOffsetExpand, stackOffsetNone, stackOffsetSilhouette, stackOffsetWiggle, stackOrderNone
    } from 'victory-vendor/d3-shape'
    export const ${UNUSED.map((name) => `curve${name} = curveLinear`).join(', ')}`,
}

/**
 * Recharts looks up scales and curves by name, and computes ticks for axes without their own: 23 kB before the first chart.
 * Axes here are linear and have their own ticks (charts/rechartsAxes.tsx); lines are straight or steps.
 */
export function bareCharts(): Plugin {
  return {
    name: 'bare-charts',
    enforce: 'pre',
    apply: 'build',
    resolveId(id, importer = '') {
      if (!importer.includes('/recharts/')) return null
      if (id === 'victory-vendor/d3-scale') return SCALE
      if (id === 'victory-vendor/d3-shape') return SHAPES
      return id.endsWith('/util/scale') ? TICKS : null
    },
    load: (id) => PARTS[id] ?? null,
  }
}
