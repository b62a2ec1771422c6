import { useElementSize, useInViewport, useMergedRef } from '@mantine/hooks'
import { useMemo } from 'react'
import { BandChart } from '@/charts/BandChart'
import { Swatch } from '@/charts/Swatch'
import classes from './results.module.css'
import { bandSeries, type LabelledGroup, type StackedQuantity } from './series'
import { chartFacts, type Shown } from './stack'

const HEIGHTS = { first: 118, other: 84, timeAxis: 24 } as const
/** A chart's title above it. */
const TITLE = 20

const heightOf = (index: number, count: number) =>
  (index === 0 ? HEIGHTS.first : HEIGHTS.other) + (index === count - 1 ? HEIGHTS.timeAxis : 0)

interface SmallMultiplesProps {
  groups: readonly LabelledGroup[]
  quantities: readonly StackedQuantity[]
  shown: Shown
  /** A series that is picked out in the legend; the others fade. */
  picked: string | null
  onPick: (label: string | null) => void
}

/** The stack once for each series, side by side over the same axes: what would cover each other in one chart. */
export function SmallMultiples({ groups, quantities, shown, picked, onPick }: SmallMultiplesProps) {
  return (
    <ul className={classes.multiples} aria-label="Series side by side">
      {groups.map((one) => (
        <li
          key={one.label}
          data-faded={picked !== null && picked !== one.label ? true : undefined}
          onPointerEnter={() => onPick(one.label)}
          onPointerLeave={() => onPick(null)}
        >
          <Column {...{ one, groups, quantities, shown }} />
        </li>
      ))}
    </ul>
  )
}

type ColumnProps = Pick<SmallMultiplesProps, 'groups' | 'quantities' | 'shown'> & { one: LabelledGroup }

/** One series' stack. What is far outside the window is not drawn: sixteen stacks are some hundred charts. */
function Column({ one, groups, quantities, shown }: ColumnProps) {
  const { ref: sized, width } = useElementSize()
  const { ref: seen, inViewport } = useInViewport()
  const ref = useMergedRef(sized, seen)
  const height = quantities.reduce((sum, _, index) => sum + TITLE + heightOf(index, quantities.length), 0)
  return (
    <figure aria-label={one.label} className={classes.multiple}>
      <figcaption title={one.label}>
        <Swatch style={one.style} /> {one.label} <small className={classes.multipleN}>n = {one.group.runs}</small>
      </figcaption>
      <div ref={ref} style={{ minHeight: height }}>
        {width > 0 && inViewport
          ? quantities.map((quantity, index) => (
              <SmallChart key={quantity.name} {...{ one, groups, quantity, shown, width }} place={index} count={quantities.length} />
            ))
          : null}
      </div>
    </figure>
  )
}

interface SmallChartProps extends Pick<SmallMultiplesProps, 'groups' | 'shown'> {
  one: LabelledGroup
  quantity: StackedQuantity
  width: number
  place: number
  count: number
}

function SmallChart({ one, groups, quantity, shown, width, place, count }: SmallChartProps) {
  const facts = useMemo(() => chartFacts(quantity, [one], shown, bandSeries(groups, quantity.name)), [quantity, one, shown, groups])
  const height = heightOf(place, count)
  return (
    <>
      <div className={classes.multipleTitle}>
        {quantity.title} <small>{quantity.unit}</small>
      </div>
      <div className={classes.multipleCanvas} style={{ height }}>
        <BandChart {...facts} {...{ width, height }} windows={shown.windows} hasTimeAxis={place === count - 1} />
      </div>
    </>
  )
}
