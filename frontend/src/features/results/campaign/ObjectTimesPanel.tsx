import { SegmentedControl, Text } from '@mantine/core'
import { useMemo } from 'react'
import { BandChart } from '@/charts/BandChart'
import { BandTable } from '@/charts/BandTable'
import { type BandSeries, placeAt, readingAt } from '@/charts/bands'
import { CursorProvider, useCursor } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { Swatch } from '@/charts/Swatch'
import type { Source } from '@/lib/captions'
import { formatEstimate } from '@/lib/format'
import { loadTwice } from '@/ui/LazyPart'
import { Panel } from '@/ui/Panel'
import classes from './results.module.css'
import { OBJECT_BASES } from './search'
import { hasObjects, type LabelledGroup, objectSeries } from './series'
import { areFew } from './stack'

const loadFigures = () => loadTwice(() => import('./figures'))

const HEIGHT = 230

const TITLES = { sender: 'Data at the sender', requested: 'With set-up', receiver: 'At the receiver' } as const
const SPANS = {
  sender: "From the flow's first data byte until the sender knew that the first N megabytes had arrived.",
  requested: 'From the connection request, set-up included, until the sender knew that the first N megabytes had arrived.',
  receiver: 'From the connection request, set-up included, until the receiver had the first N megabytes.',
} as const

interface ObjectTimesPanelProps {
  groups: LabelledGroup[]
  hasBands: boolean
  source: Source
  basis: (typeof OBJECT_BASES)[number]
  onBasis: (basis: (typeof OBJECT_BASES)[number]) => void
}

/** How long an object of each size takes, as read off the cumulative goodput. */
export function ObjectTimesPanel({ groups, hasBands: areBandsAsked, source, basis, onBasis }: ObjectTimesPanelProps) {
  const known = OBJECT_BASES.filter((one) => hasObjects(groups, one))
  const shown = known.includes(basis) ? basis : 'sender'
  // An interval of few runs says little, and floods the chart.
  const hasBands = areBandsAsked && !areFew(groups)
  const series = useMemo(() => objectSeries(groups, shown), [groups, shown])
  const sizes = series.flatMap((one) => one.x)
  if (sizes.length === 0) return null
  const [from, to] = [0, Math.max(...sizes)]
  return (
    <Panel
      title="Object download time"
      description={`${SPANS[shown]} For every size that all runs of a condition reached.`}
      isFlush
      actions={
        known.length > 1 ? (
          <SegmentedControl
            size="xs"
            aria-label="From when to when"
            value={shown}
            onChange={(value) => onBasis(value as (typeof OBJECT_BASES)[number])}
            data={known.map((value) => ({ value, label: TITLES[value] }))}
          />
        ) : null
      }
    >
      <CursorProvider>
        <ObjectReadout series={series} />
        <Frame
          title="Object time"
          unit="s"
          height={HEIGHT}
          figure={async () => (await loadFigures()).objectsFigure(groups, shown, hasBands, source)}
          table={() => (
            <BandTable
              caption="Seconds to download an object: mean with its 95 % interval"
              xLabel="MB"
              {...{ series, from, to }}
              factor={1}
            />
          )}
        >
          {(width) => <BandChart {...{ width, series, from, to, hasBands }} height={HEIGHT} factor={1} hasTimeAxis />}
        </Frame>
        <Text size="xs" c="dimmed" ta="center" pb="sm">
          Object size, MB
        </Text>
      </CursorProvider>
    </Panel>
  )
}

function ObjectReadout({ series }: { series: readonly BandSeries[] }) {
  const x = useCursor()
  return (
    <div className={classes.objectReadout}>
      {series.map((one) => (
        <span key={one.id}>
          <Swatch style={one.style} /> {one.label}
          {x === null ? null : (
            <strong>
              {' '}
              {one.x[placeAt(one, x)] ?? x} MB in {formatEstimate(readingAt(one, x))} s
            </strong>
          )}
        </span>
      ))}
    </div>
  )
}
