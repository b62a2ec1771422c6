import { Group, Select, Text } from '@mantine/core'
import type { Sweep } from '@/api/types'
import { HeatMap } from '@/charts/HeatMap'
import { SaveMenu } from '@/charts/SaveMenu'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { versionName } from '../detectors'
import type { CampaignExitsSearch } from '../search'
import { gridOf, mapsFigure } from './figures'
import { type Axes, axesOf, MEASURES } from './layout'
import { SetsTable } from './SetsTable'
import classes from './sweeps.module.css'

interface HeatMapsPanelProps {
  /** Its name. */
  campaign: string
  sweep: Sweep
  search: CampaignExitsSearch
  onSearch: (change: CampaignExitsSearch) => void
}

/** A sweep's maps over two of its parameters, the others held. */
export function HeatMapsPanel({ campaign, sweep, search, onSearch }: HeatMapsPanelProps) {
  const axes = axesOf(sweep, search)
  return (
    <Panel
      title={`Maps of ${versionName(sweep.detector, sweep.version)}`}
      description="Percent of the traces on which a parameter set can decide; each trace keeps its capacity point and first loss. “Numbers” shows intervals and n."
      actions={sweep.cells ? <SaveMenu what="the maps" figure={() => mapsFigure(campaign, sweep, axes)} /> : null}
    >
      {sweep.cells ? (
        <>
          <AxesControl sweep={sweep} axes={axes} onSearch={onSearch} />
          <div className={classes.maps}>
            {MEASURES.map(({ name, title, says }) => (
              <div key={name}>
                <HeatMap {...gridOf(sweep, axes, name, title)} />
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
          {sweep.reason ?? `${sweep.done} of ${sweep.total} traces are done. The maps appear by themselves.`}
        </Empty>
      )}
    </Panel>
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
