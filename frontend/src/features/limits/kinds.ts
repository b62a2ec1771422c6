/** What can hold a flow back, in the order in which charts stack it. */
export const LIMITS = [
  { name: 'congestion_window', title: 'Congestion window' },
  { name: 'receive_window', title: 'Receive window' },
  { name: 'send_buffer', title: 'Send buffer' },
  { name: 'application', title: 'Application' },
] as const
