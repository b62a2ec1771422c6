// Made by `npm run api` from backend/downlink/domain/quantities.csv.
export const QUANTITIES = {
  throughput_bps: { level: 'second', title: 'Throughput', unit: 'Mb/s', factor: 0.000001 },
  goodput_bps: { level: 'second', title: 'Goodput', unit: 'Mb/s', factor: 0.000001 },
  rtt_ms: { level: 'second', title: 'RTT', unit: 'ms', factor: 1 },
  rwnd_bytes: { level: 'second', title: 'Receive window', unit: 'MB', factor: 0.000001 },
  cwnd_bytes: { level: 'second', title: 'Congestion window', unit: 'MB', factor: 0.000001 },
  retransmission_percent: { level: 'second', title: 'Retransmissions', unit: '% of sent bytes', factor: 1, limit: 100 },
  in_flight_bytes: { level: 'second', title: 'In flight', unit: 'MB', factor: 0.000001 },
  probe_loss_percent: { level: 'second', title: 'Probes lost', unit: '% of probes', factor: 1, limit: 100 },
  utilisation_ratio: { level: 'phase', title: 'Utilisation', unit: '% of nominal rate', factor: 100 },
  probe_rtt_p95_ms: { level: 'phase', title: '95th percentile of probe RTT', unit: 'ms', factor: 1 },
  time_to_steady_s: { level: 'run', title: 'Time to steady state', unit: 's', factor: 1 },
  time_to_level_s: { level: 'run', title: 'Time to common level', unit: 's', factor: 1 },
  object_time_s: { level: 'object', title: 'Object time', unit: 's', factor: 1 },
  requested_object_time_s: { level: 'object', title: 'Object time with set-up', unit: 's', factor: 1 },
  received_object_time_s: { level: 'object', title: 'Object time at the receiver', unit: 's', factor: 1 },
  jain_index: { level: 'flows', title: 'Jain index', unit: '', factor: 1, limit: 1 },
  capacity_s: { level: 'slow start', title: 'Capacity point', unit: 's', factor: 1 },
  cg_s: { level: 'slow start', title: 'cg (SEARCH 1.0)', unit: 's', factor: 1 },
  ex_s: { level: 'slow start', title: 'ex (SEARCH 1.0)', unit: 's', factor: 1 },
  dp_s: { level: 'slow start', title: 'dp (first loss)', unit: 's', factor: 1 },
  hr_s: { level: 'slow start', title: 'hr (dp - ex)', unit: 's', factor: 1 },
  success_percent: { level: 'slow start', title: 'Success of SEARCH 1.0', unit: '%', factor: 1, limit: 100 },
  error_percent: { level: 'slow start', title: 'Error of SEARCH by bins', unit: '%', factor: 1, limit: 100 },
  slow_start_exit_s: { level: 'slow start', title: 'Slow-start exit', unit: 's', factor: 1 },
} as const

/** What can hold a flow back, in the order in which charts stack it. */
export const LIMITS = [
  { name: 'congestion_window', title: 'Congestion window' },
  { name: 'receive_window', title: 'Receive window' },
  { name: 'send_buffer', title: 'Send buffer' },
  { name: 'application', title: 'Application' },
] as const
