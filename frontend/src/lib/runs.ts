/** "Run of “Cubic” in cycle 3 over the link geo, campaign “…”." What a figure of one run says of it. */
export const runSentence = ({
  condition,
  cycle,
  link,
  campaign_name,
}: {
  condition: string
  cycle: number
  link: string
  campaign_name?: string
}) => `Run of “${condition}” in cycle ${cycle} over the link ${link}${campaign_name ? `, campaign “${campaign_name}”` : ''}.`

/** What the API calls the controls of flows that are not TCP. */
const NOT_TCP = ['intcp', 'probe']

/** Whether one of its flows is TCP: slow start and the kernel's counters of limits are of TCP alone. */
export const hasTcp = ({ flows }: { flows: readonly { asked_cc: string }[] }) => flows.some(({ asked_cc }) => !NOT_TCP.includes(asked_cc))
