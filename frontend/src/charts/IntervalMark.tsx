import { seriesStyle } from './palette'

interface IntervalMarkProps {
  mean: number | null
  low: number | null
  high: number | null
  /** The axis runs from 0 (or `min`) to `max`, shared by the marks of a column. */
  max: number
  min?: number
  style: number
  width?: number
}

const HEIGHT = 16

/** A mean with its interval on a small axis, for a table cell beside the numbers. */
export function IntervalMark({ mean, low, high, max, min = 0, style, width = 120 }: IntervalMarkProps) {
  if (mean === null || max <= min) return null
  const { color } = seriesStyle(style)
  const at = (value: number) => 4 + (width - 8) * Math.min(1, Math.max(0, (value - min) / (max - min)))
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true" style={{ display: 'block' }}>
      <line x1={4} x2={width - 4} y1={8} y2={8} stroke="var(--chart-grid)" />
      {min < 0 ? <line x1={at(0)} x2={at(0)} y1={1} y2={15} stroke="var(--chart-axis)" /> : null}
      {low !== null && high !== null ? (
        <>
          <line x1={at(low)} x2={at(high)} y1={8} y2={8} stroke={color} strokeWidth={2} />
          <line x1={at(low)} x2={at(low)} y1={4} y2={12} stroke={color} strokeWidth={1.5} />
          <line x1={at(high)} x2={at(high)} y1={4} y2={12} stroke={color} strokeWidth={1.5} />
        </>
      ) : null}
      <circle cx={at(mean)} cy={8} r={4} fill={color} stroke="var(--surface)" strokeWidth={1} />
    </svg>
  )
}
