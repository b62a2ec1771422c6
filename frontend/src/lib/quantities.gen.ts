// Made by `npm run api` from backend/downlink/domain/quantities.csv.
export const QUANTITIES = {
  throughput_bps: { level: 'second', title: 'Throughput', unit: 'Mb/s', factor: 0.000001 },
  goodput_bps: { level: 'second', title: 'Goodput', unit: 'Mb/s', factor: 0.000001 },
  rtt_ms: { level: 'second', title: 'RTT', unit: 'ms', factor: 1 },
  rwnd_bytes: { level: 'second', title: 'Receive window', unit: 'MB', factor: 0.000001 },
  cwnd_bytes: { level: 'second', title: 'Congestion window', unit: 'MB', factor: 0.000001 },
  retransmission_percent: { level: 'second', title: 'Retransmissions', unit: '% of sent bytes', factor: 1, limit: 100 },
  in_flight_bytes: { level: 'second', title: 'In flight', unit: 'MB', factor: 0.000001 },
  utilisation_ratio: { level: 'phase', title: 'Utilisation', unit: '% of nominal rate', factor: 100 },
  time_to_steady_s: { level: 'run', title: 'Time to steady state', unit: 's', factor: 1 },
  time_to_level_s: { level: 'run', title: 'Time to common level', unit: 's', factor: 1 },
} as const

/** What can hold a flow back, in the order in which charts stack it. */
export const LIMITS = [
  { name: 'congestion_window', title: 'Congestion window' },
  { name: 'receive_window', title: 'Receive window' },
  { name: 'send_buffer', title: 'Send buffer' },
  { name: 'application', title: 'Application' },
] as const
