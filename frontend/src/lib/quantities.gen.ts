// Made by `npm run api` from backend/downlink/domain/quantities.csv.
export const QUANTITIES = {
  throughput_bps: { title: 'Throughput', unit: 'Mb/s', factor: 0.000001 },
  goodput_bps: { title: 'Goodput', unit: 'Mb/s', factor: 0.000001 },
  rtt_ms: { title: 'RTT', unit: 'ms', factor: 1 },
  rwnd_bytes: { title: 'Receive window', unit: 'MB', factor: 0.000001 },
  cwnd_bytes: { title: 'Congestion window', unit: 'MB', factor: 0.000001 },
  retransmission_percent: { title: 'Retransmissions', unit: '% of sent bytes', factor: 1, limit: 100 },
  in_flight_bytes: { title: 'In flight', unit: 'MB', factor: 0.000001 },
  utilisation_ratio: { title: 'Utilisation', unit: '% of nominal rate', factor: 100 },
  time_to_steady_s: { title: 'Time to steady state', unit: 's', factor: 1 },
  time_to_level_s: { title: 'Time to common level', unit: 's', factor: 1 },
} as const
