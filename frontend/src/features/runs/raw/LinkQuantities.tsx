import type { Run } from '@/api/types'
import { secondsOf } from '@/charts/clock'
import { QuantityStrip } from '@/charts/QuantityStrip'
import { binsOf, quantityTitle } from '@/lib/quantityOfLink'
import { Panel } from '@/ui/Panel'
import { useRunQuantities } from './queries'

const AROUND_S = 120

/** Dish, modem and weather from two minutes before the run to two minutes after it. Nothing where nobody observed. */
export function LinkQuantities({ run }: { run: Run }) {
  const { data } = useRunQuantities(run.id)
  const strips = data?.items ?? []
  if (strips.length === 0 || !run.started_at) return null
  const from_s = secondsOf(run.started_at)
  const last_s = Math.max(...strips.flatMap(binsOf).map(({ at_s }) => at_s))
  const to_s = Math.max(from_s + 1, run.ended_at ? secondsOf(run.ended_at) : last_s)
  return (
    <Panel
      title={`Dish and weather of ${run.link}`}
      description="By clock time, in UTC. Shaded from the run’s start to its end, uploads included."
      isFlush
    >
      {strips.map((strip) => (
        <QuantityStrip
          key={`${strip.quantity} ${strip.source}`}
          title={quantityTitle(strip.quantity)}
          unit={strip.unit}
          note={strip.source}
          bins={binsOf(strip)}
          from_s={from_s - AROUND_S}
          to_s={Math.max(to_s, last_s)}
          marked={{ from_s, to_s }}
        />
      ))}
    </Panel>
  )
}
