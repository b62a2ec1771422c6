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
  if (strips.length === 0 || !run.start_at) return null
  const from_s = secondsOf(run.start_at)
  const to_s = from_s + (run.stop.seconds ?? run.deadline_s)
  return (
    <Panel title={`Dish and weather of ${run.link}`} description="By the clock, in UTC. The run is shaded." isFlush>
      {strips.map((strip) => (
        <QuantityStrip
          key={`${strip.quantity} ${strip.source}`}
          title={quantityTitle(strip.quantity)}
          unit={strip.unit}
          note={strip.source}
          bins={binsOf(strip)}
          from_s={from_s - AROUND_S}
          to_s={to_s + AROUND_S}
          marked={{ from_s, to_s }}
        />
      ))}
    </Panel>
  )
}
