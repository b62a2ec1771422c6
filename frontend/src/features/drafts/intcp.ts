/** Options of INTCP as docs/campaign-file.md lists them; a test compares the two. */

interface Choice {
  value: string
  label: string
}

export interface IntcpOption {
  name: string
  label: string
  help: string
  /** What holds where nothing is given, as the field shows it. */
  initial: string
  unit?: string
  /** The file's unit per the unit that is shown. */
  factor?: number
  choices?: readonly Choice[]
}

const MB = 1e6
const WHERE: readonly Choice[] = [
  { value: 'hop', label: 'by each hop' },
  { value: 'end', label: 'end to end' },
]

export const INTCP_OPTIONS: readonly IntcpOption[] = [
  {
    name: 'buffer_bytes',
    label: 'Buffer of a relay',
    help: 'Buffer of a relay; 0: as large as its hops need',
    initial: '0 MB',
    unit: 'MB',
    factor: MB,
  },
  {
    name: 'window_bytes',
    label: 'Window of the receiver',
    help: 'Bytes that it may have requested and not received; at most 67 MB',
    initial: '8.388608 MB',
    unit: 'MB',
    factor: MB,
  },
  {
    name: 'hole_packets',
    label: 'Packets that show a loss',
    help: 'Later packets after which a missing one counts as lost; 1 to 16',
    initial: '3',
  },
  {
    name: 'cache',
    label: 'Cache of relays',
    help: 'Whether relays cache what passed for the next request',
    initial: 'on',
    choices: [
      { value: 'on', label: 'on' },
      { value: 'off', label: 'off' },
    ],
  },
  {
    name: 'recovery',
    label: 'Repair of losses',
    help: 'By each hop, or end to end by the receiver',
    initial: 'hop',
    choices: WHERE,
  },
  {
    name: 'rate',
    label: 'Control of the rate',
    help: 'Whether full relays slow down those before them',
    initial: 'hop',
    choices: WHERE,
  },
  {
    name: 'handover',
    label: 'At a handover',
    help: 'Whether a new neighbour is asked at once, or after the receiver’s timeout',
    initial: 'ask',
    choices: [
      { value: 'ask', label: 'ask at once' },
      { value: 'timeout', label: 'wait for the timeout' },
    ],
  },
]
