import { Group, Select, Text } from '@mantine/core'
import type { Sweep } from '@/api/types'
import { HeatMap } from '@/charts/HeatMap'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { versionName } from '../detectors'
import type { CampaignExitsSearch } from '../search'
import { type Axes, axesOf, heatCell, MEASURES, type Measure, planeOf, scaleOf } from './layout'
import { SetsTable } from './SetsTable'
import classes from './sweeps.module.css'

interface HeatMapsPanelProps {
  sweep: Sweep
  search: CampaignExitsSearch
  onSearch: (change: CampaignExitsSearch) => void
}

/** A sweep's maps over two of its parameters, the others held. */
export function HeatMapsPanel({ sweep, search, onSearch }: HeatMapsPanelProps) {
  const axes = axesOf(sweep, search)
  return (
    <Panel
      title={`Maps of ${versionName(sweep.detector, sweep.version)}`}
      description="Percent of the traces on which a parameter set can decide; the capacity point and the first loss stay those of each trace. Numbers has the intervals and n."
    >
      {sweep.cells ? (
        <>
          <AxesControl sweep={sweep} axes={axes} onSearch={onSearch} />
          <div className={classes.maps}>
            {MEASURES.map(({ name, title, says }) => (
              <div key={name}>
                <Plane sweep={sweep} axes={axes} measure={name} title={title} />
                <Text size="xs" c="dimmed" mt={4}>
                  {says}
                </Text>
              </div>
            ))}
          </div>
          <SetsTable cells={sweep.cells} />
        </>
      ) : (
        <Empty title={sweep.state === 'failed' ? 'This sweep failed' : 'Not done yet'}>
          {sweep.reason ?? `${sweep.done} of ${sweep.total} traces are swept. The maps appear by themselves.`}
        </Empty>
      )}
    </Panel>
  )
}

function Plane({ sweep, axes, measure, title }: { sweep: Sweep; axes: Axes; measure: Measure; title: string }) {
  const cells = planeOf(sweep, axes).map((row) => row.map((cell) => heatCell(cell, measure)))
  const [low, high] = scaleOf(measure, cells)
  return (
    <HeatMap
      title={title}
      xName={axes.x}
      xs={sweep.grid[axes.x] ?? []}
      yName={axes.y}
      ys={axes.y ? (sweep.grid[axes.y] ?? []) : []}
      {...{ cells, low, high }}
    />
  )
}

function AxesControl({ sweep, axes, onSearch }: { sweep: Sweep; axes: Axes; onSearch: HeatMapsPanelProps['onSearch'] }) {
  const names = Object.keys(sweep.grid)
  if (names.length < 2) return null
  const hold = (name: string, value: string | null) => {
    const held = { ...axes.held, [name]: Number(value) }
    onSearch({ at: Object.entries(held).map(([one, number]) => `${one}=${number}`) })
  }
  const choice = { size: 'xs', allowDeselect: false, w: 190 } as const
  return (
    <Group gap="sm" mb="md">
      <Select
        {...choice}
        label="Across"
        data={names}
        value={axes.x}
        onChange={(x) => onSearch({ x: x ?? undefined, y: axes.y === x ? axes.x : (axes.y ?? undefined) })}
      />
      <Select
        {...choice}
        label="Down"
        data={names}
        value={axes.y}
        onChange={(y) => onSearch({ y: y ?? undefined, x: axes.x === y ? (axes.y ?? undefined) : axes.x })}
      />
      {Object.entries(axes.held).map(([name, value]) => (
        <Select
          {...choice}
          key={name}
          label={`${name} held at`}
          data={(sweep.grid[name] ?? []).map(String)}
          value={String(value)}
          onChange={(next) => hold(name, next)}
        />
      ))}
    </Group>
  )
}
