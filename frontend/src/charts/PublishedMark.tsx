import { seriesStyle } from './palette'

interface PublishedMarkProps {
  /** Ours, a line for each campaign; null where there is none. */
  ours: readonly ({ estimate: number | null; low: number | null; high: number | null } | null)[]
  /** What was published: a line where both ends are equal, else a band; null where it is open. */
  least: number | null
  most: number | null
  min: number
  max: number
  width?: number
}

const LINE = 16
const EDGE = 4

/** Our intervals under each other over one small axis, with what was published as a mark through all of them. */
export function PublishedMark({ ours, least, most, min, max, width = 160 }: PublishedMarkProps) {
  if (max <= min) return null
  const at = (value: number) => EDGE + (width - 2 * EDGE) * Math.min(1, Math.max(0, (value - min) / (max - min)))
  const height = LINE * Math.max(1, ours.length) + 4
  const [left, right] = [least === null ? EDGE : at(least), most === null ? width - EDGE : at(most)]
  return (
    <svg width={width} height={height} aria-hidden="true" style={{ display: 'block' }}>
      {least === most ? null : <rect x={left} y={0} width={right - left} height={height} fill="var(--chart-grid)" />}
      {ours.map((one, index) => {
        const { color } = seriesStyle(index)
        const y = 2 + LINE * index + LINE / 2
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line belongs to its place
          <g key={index}>
            <line x1={EDGE} x2={width - EDGE} y1={y} y2={y} stroke="var(--chart-grid)" />
            {one && one.low !== null && one.high !== null ? (
              <path
                d={`M${at(one.low)} ${y - 4}v8M${at(one.low)} ${y}H${at(one.high)}M${at(one.high)} ${y - 4}v8`}
                stroke={color}
                strokeWidth={2}
                fill="none"
              />
            ) : null}
            {one && one.estimate !== null ? (
              <circle cx={at(one.estimate)} cy={y} r={4} fill={color} stroke="var(--surface)" strokeWidth={1} />
            ) : null}
          </g>
        )
      })}
      {[least, most].map((end, index) =>
        end === null || (index === 1 && least === most) ? null : (
          <line
            key={end}
            x1={at(end)}
            x2={at(end)}
            y1={0}
            y2={height}
            stroke="var(--mantine-color-text)"
            strokeWidth={2}
            strokeDasharray="3 2"
          />
        ),
      )}
    </svg>
  )
}
