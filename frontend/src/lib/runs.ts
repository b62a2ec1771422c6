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
