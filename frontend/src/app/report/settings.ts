import type { CampaignSpec, Condition } from '@/api/types'
import { carried } from '@/features/plan/wording'
import { stopOf } from '@/lib/stop'
import { formatDuration } from '@/lib/time'

type Settings = Readonly<Record<string, unknown>>

export interface ConditionRow {
  name: string
  flows: string
  stop: string
  /** Settings that not all conditions share. */
  sender: string
  receiver: string
}

/** What each condition is, and what all of them share. */
export function conditionRows({ conditions }: CampaignSpec): { rows: ConditionRow[]; shared: { sender: string; receiver: string } } {
  const alike = { sender: sharedBy(conditions.map(({ sender }) => sender)), receiver: sharedBy(conditions.map(({ receiver }) => receiver)) }
  const rows = conditions.map((one) => ({
    name: one.name,
    flows: flowsText(one),
    stop: stopOf(one.stop),
    sender: settingsText(without(one.sender, alike.sender)),
    receiver: settingsText(without(one.receiver, alike.receiver)),
  }))
  return { rows, shared: { sender: settingsText(alike.sender), receiver: settingsText(alike.receiver) } }
}

/** "cubic", "cubic; bbr of sender 2, from 5 s on". */
export const flowsText = ({ flows }: Pick<Condition, 'flows'>): string =>
  flows
    .map((flow) => {
      const parts = [carried(flow)]
      if (flow.sender > 1) parts.push(`of sender ${flow.sender}`)
      if (flow.start_s > 0) parts.push(`from ${formatDuration(flow.start_s)} on`)
      if ('pacing_rate_bps' in flow && flow.pacing_rate_bps !== null) parts.push(`paced at ${flow.pacing_rate_bps / 1e6} Mb/s at most`)
      return parts.join(', ')
    })
    .join('; ')

function sharedBy(all: readonly Settings[]): Settings {
  const [first = {}, ...others] = all
  return Object.fromEntries(Object.entries(first).filter(([name, value]) => others.every((other) => String(other[name]) === String(value))))
}

const without = (settings: Settings, shared: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !(name in shared)))

const settingsText = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${String(value)}`)
    .join('\n')
