import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { BandChart } from '@/charts/BandChart'
import { BandTable } from '@/charts/BandTable'
import { type BandSeries, readingAt } from '@/charts/bands'
import { CursorProvider, useCursor } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { Swatch } from '@/charts/Swatch'
import { formatEstimate } from '@/lib/format'
import { Panel } from '@/ui/Panel'
import classes from './results.module.css'
import { type LabelledGroup, objectSeries } from './series'

const HEIGHT = 230

/** How long an object of each size takes, as read off the cumulative goodput. */
export function ObjectTimesPanel({ groups, hasBands }: { groups: LabelledGroup[]; hasBands: boolean }) {
  const series = useMemo(() => objectSeries(groups), [groups])
  const sizes = series.flatMap((one) => one.x)
  if (sizes.length === 0) return null
  const [from, to] = [0, Math.max(...sizes)]
  return (
    <Panel
      title="Object download time"
      description="From the flow's first data byte until the sender knew that the first N megabytes had arrived, for every size that all runs of a condition reached. Until the receiver has them, counted from the start of the connection, takes about one round trip more."
      isFlush
    >
      <CursorProvider>
        <ObjectReadout series={series} />
        <Frame
          title="Time"
          unit="s"
          height={HEIGHT}
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
              {x} MB in {formatEstimate(readingAt(one, x))} s
            </strong>
          )}
        </span>
      ))}
    </div>
  )
}
