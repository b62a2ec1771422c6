import { useId } from 'react'
import classes from './stacks.module.css'

/** Layers of a stack differ in hue and in pattern: plain, rising lines, dots, level lines. */
const HUES = ['var(--series-1)', 'var(--series-2)', 'var(--series-3)', 'var(--series-6)'] as const
const MARKS = [null, 'M-2 2l4 -4M0 8l8 -8M6 10l4 -4', 'M4 4h.01', 'M0 4h8'] as const

export interface LayerFills {
  /** To be drawn once inside the same svg. */
  defs: React.ReactNode
  fill: (layer: number) => string
}

export function useLayerFills(): LayerFills {
  const own = useId().replaceAll(/\W/g, '')
  return { defs: <Patterns own={own} />, fill: (layer) => `url(#${own}-${layer % HUES.length})` }
}

function Patterns({ own }: { own: string }) {
  return (
    <defs>
      {HUES.map((hue, layer) => (
        <pattern key={hue} id={`${own}-${layer}`} width={8} height={8} patternUnits="userSpaceOnUse">
          <rect width={8} height={8} fill={hue} fillOpacity={MARKS[layer] ? 0.28 : 0.85} />
          {MARKS[layer] ? <path d={MARKS[layer]} stroke={hue} strokeWidth={layer === 2 ? 3.5 : 2} strokeLinecap="round" /> : null}
        </pattern>
      ))}
    </defs>
  )
}

/** A layer as the stacks draw it. */
export function LayerSwatch({ layer }: { layer: number }) {
  const { defs, fill } = useLayerFills()
  return (
    <svg width={24} height={14} className={classes.swatch} aria-hidden="true">
      {defs}
      <rect width={24} height={14} rx={2} fill={fill(layer)} />
    </svg>
  )
}
