import { MarkGlyph } from '@/charts/MarkGlyph'
import { seriesStyle } from '@/charts/palette'
import type { DetectorLook } from './detectors'
import classes from './toggles.module.css'

interface DetectorTogglesProps {
  looks: readonly DetectorLook[]
  isOn: (key: string) => boolean
  onToggle: (key: string) => void
}

/** The legend of detectors; each is a switch. */
export function DetectorToggles({ looks, isOn, onToggle }: DetectorTogglesProps) {
  return (
    <div className={classes.toggles} role="group" aria-label="Detectors shown">
      {looks.map(({ key, name, code, style, glyph }) => (
        <button key={key} type="button" aria-pressed={isOn(key)} onClick={() => onToggle(key)}>
          <svg width={44} height={12} aria-hidden="true">
            <line
              x1={0}
              x2={22}
              y1={6}
              y2={6}
              stroke={seriesStyle(style).color}
              strokeWidth={2}
              strokeDasharray={seriesStyle(style).dash}
            />
            <MarkGlyph glyph={glyph} style={style} x={28} y={1} />
          </svg>
          <span>
            {name} <small>{code}</small>
          </span>
        </button>
      ))}
    </div>
  )
}
