/** A small, seeded stand-in for measured series: enough like a GEO download to look at pages with. Not a simulation of TCP. */

/** mulberry32: numbers in [0, 1) from a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export interface CourseOptions {
  seconds: number
  /** When the rate has reached half its top, in seconds. */
  half_s: number
  /** How steep the climb is. */
  steepness: number
  top_bps: number
  base_rtt_ms: number
  seed: number
}

export interface Course {
  throughput_bps: number[]
  goodput_bps: number[]
  rtt_ms: number[]
  rwnd_bytes: number[]
  cwnd_bytes: number[]
  retransmission_percent: number[]
  in_flight_bytes: number[]
}

/** One flow's one-second series. */
export function makeCourse({ seconds, half_s, steepness, top_bps, base_rtt_ms, seed }: CourseOptions): Course {
  const random = randomFrom(seed)
  const noise = (share: number) => 1 + share * (random() + random() - 1)
  const shift_s = half_s * noise(0.14)
  const bins = Array.from({ length: seconds }, (_, second) => {
    const rate_bps = (top_bps * noise(0.05)) / (1 + Math.exp(-(second - shift_s) / steepness))
    const fill = rate_bps / top_bps
    const rtt_ms = (base_rtt_ms + 190 * fill ** 4) * noise(0.03)
    const in_flight_bytes = (rate_bps / 8) * (rtt_ms / 1000)
    const loss = fill > 0.85 && random() < 0.22 ? random() * 0.9 : 0
    return {
      throughput_bps: rate_bps,
      goodput_bps: rate_bps * (1 - loss / 100),
      rtt_ms,
      rwnd_bytes: Math.min(26e6, 65_535 + in_flight_bytes * 2.1),
      cwnd_bytes: Math.max(14_480, in_flight_bytes * 1.12),
      retransmission_percent: loss,
      in_flight_bytes,
    }
  })
  const column = (name: keyof Course) => bins.map((bin) => bin[name])
  return {
    throughput_bps: column('throughput_bps'),
    goodput_bps: column('goodput_bps'),
    rtt_ms: column('rtt_ms'),
    rwnd_bytes: column('rwnd_bytes'),
    cwnd_bytes: column('cwnd_bytes'),
    retransmission_percent: column('retransmission_percent'),
    in_flight_bytes: column('in_flight_bytes'),
  }
}

/** Two-sided 95 % quantiles of Student's t for 1 to 9 degrees of freedom. */
const T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]

export function estimate(values: readonly number[]) {
  const n = values.length
  if (n === 0) return { mean: null, low: null, high: null, n, sd: null }
  const mean = values.reduce((sum, value) => sum + value, 0) / n
  if (n === 1) return { mean, low: null, high: null, n, sd: null }
  const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1))
  const half = ((T_95[n - 2] ?? 1.96) * sd) / Math.sqrt(n)
  return { mean, low: mean - half, high: mean + half, n, sd }
}
