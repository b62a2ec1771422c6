import { useElementSize } from '@mantine/hooks'
import { seriesStyle } from '@/charts/palette'
import { timeTicks, valueScale } from '@/charts/ticks'
import { MB_PER_BYTE, MBPS_PER_BPS } from '@/lib/units'
import type { LiveHistory, LivePoint } from './liveHistory'
import classes from './runs.module.css'

const HEIGHT = 96
const EDGE = { left: 44, right: 18, top: 6, bottom: 18 }

const QUANTITIES: readonly { title: string; unit: string; of: (point: LivePoint) => number | null }[] = [
  { title: 'Throughput', unit: 'Mb/s', of: ({ throughput_bps }) => (throughput_bps === null ? null : throughput_bps * MBPS_PER_BPS) },
  { title: 'RTT', unit: 'ms', of: ({ rtt_ms }) => rtt_ms },
  { title: 'Congestion window', unit: 'MB', of: ({ cwnd_bytes }) => cwnd_bytes * MB_PER_BYTE },
]

/** The flows' last minutes beside each other; the numbers themselves are in words above. */
export function LiveChart({ history }: { history: LiveHistory }) {
  const times = Object.values(history).flatMap((points) => points.map(({ at_s }) => at_s))
  if (times.length === 0) return null
  const from_s = Math.min(...times)
  const to_s = Math.max(...times, from_s + 10)
  return (
    <div className={classes.liveCharts}>
      {QUANTITIES.map(({ title, unit, of }) => (
        <figure key={title}>
          <figcaption>
            {title} <small>{unit}</small>
          </figcaption>
          <Lines label={`${title} of the last minutes`} {...{ history, of, from_s, to_s }} />
        </figure>
      ))}
    </div>
  )
}

interface LinesProps {
  label: string
  history: LiveHistory
  of: (point: LivePoint) => number | null
  from_s: number
  to_s: number
}

function Lines({ label, history, of, from_s, to_s }: LinesProps) {
  const { ref, width } = useElementSize()
  const values = Object.values(history).flatMap((points) => points.flatMap((point) => of(point) ?? []))
  const { max, ticks, decimals } = valueScale(Math.max(0, ...values), 3)
  const x = (at_s: number) => EDGE.left + ((at_s - from_s) / (to_s - from_s)) * (width - EDGE.left - EDGE.right)
  const y = (value: number) => HEIGHT - EDGE.bottom - (value / max) * (HEIGHT - EDGE.top - EDGE.bottom)
  return (
    <div ref={ref}>
      {width > 0 ? (
        <svg width={width} height={HEIGHT} role="img" aria-label={label}>
          {ticks.map((tick) => (
            <g key={tick}>
              <line x1={EDGE.left} x2={width - EDGE.right} y1={y(tick)} y2={y(tick)} stroke="var(--chart-grid)" />
              <text x={EDGE.left - 6} y={y(tick) + 4} textAnchor="end">
                {tick.toLocaleString('en-GB', { minimumFractionDigits: decimals })}
              </text>
            </g>
          ))}
          {timeTicks(from_s, to_s, 4).map((tick) => (
            <text key={tick} x={x(tick)} y={HEIGHT - 3} textAnchor="middle">
              {tick} s
            </text>
          ))}
          {Object.entries(history).map(([flow, points]) => (
            <FlowLine key={flow} flow={Number(flow)} places={points.map((point) => [x(point.at_s), of(point)] as const)} y={y} />
          ))}
        </svg>
      ) : null}
    </div>
  )
}

type Place = readonly [x: number, value: number | null]

/** A line that breaks where there is no value, with a dot at its newest. */
function FlowLine({ flow, places, y }: { flow: number; places: readonly Place[]; y: (value: number) => number }) {
  const { color, dash } = seriesStyle(flow - 1)
  const path = places.map(([at, value], index) =>
    value === null ? '' : `${index > 0 && places[index - 1]?.[1] !== null ? 'L' : 'M'}${at.toFixed(1)} ${y(value).toFixed(1)}`,
  )
  const [at, value] = places.at(-1) ?? [0, null]
  return (
    <>
      <path d={path.join('')} fill="none" stroke={color} strokeWidth={1.8} strokeDasharray={dash} />
      {value === null ? null : <circle cx={at} cy={y(value)} r={2.6} fill={color} />}
    </>
  )
}
