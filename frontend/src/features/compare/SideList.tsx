import { ActionIcon, Radio, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ComparedSide } from '@/api/types'
import { Swatch } from '@/charts/Swatch'
import { plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { Choice } from '@/ui/Choice'
import classes from './compare.module.css'
import { placeOf } from './sides'

interface SideListProps {
  chosen: readonly string[]
  /** What the server says of them; of one that it does not know, nothing. */
  known: ReadonlyMap<string, { side: ComparedSide; label: string }>
  baseline: string
  onBaseline: (side: string) => void
  onFlow: (side: string, flow: number) => void
  onRemove: (side: string) => void
}

/** What is compared, in its order; one of them is the baseline. */
export function SideList({ chosen, known, baseline, onBaseline, onFlow, onRemove }: SideListProps) {
  return (
    <Radio.Group label="Baseline" description="The others are compared with this one" value={baseline} onChange={onBaseline}>
      <ul className={classes.sides}>
        {chosen.map((text, index) => {
          const found = known.get(text)
          const label = found?.label ?? placeOf(text)
          return (
            <li key={text}>
              <Radio value={text} label={label} className={classes.name} />
              <Swatch style={index} />
              {found ? <Origin side={found.side} /> : <Text className={classes.origin}>…</Text>}
              {found && found.side.flows > 1 ? (
                <Choice
                  label={`Flow of ${label}`}
                  width={110}
                  value={String(found.side.flow)}
                  data={Array.from({ length: found.side.flows }, (_, flow) => ({ value: String(flow + 1), label: `Flow ${flow + 1}` }))}
                  onChange={(flow) => onFlow(text, Number(flow))}
                />
              ) : null}
              <ActionIcon
                variant="subtle"
                color="gray"
                className={classes.remove}
                aria-label={`Take away ${label}`}
                onClick={() => onRemove(text)}
              >
                ×
              </ActionIcon>
            </li>
          )
        })}
      </ul>
    </Radio.Group>
  )
}

/** Where it is from, how many runs it has, and when they were measured. */
function Origin({ side: { campaign, campaign_id, link, runs, first_at } }: { side: ComparedSide }) {
  return (
    <Text size="sm" c="dimmed" className={classes.origin} component="div">
      <Link to="/campaigns/$campaignId" params={{ campaignId: campaign_id }}>
        {campaign}
      </Link>
      , link {link}, {runs === 0 ? 'no complete run yet' : plural(runs, 'run')}
      {first_at ? ` from ${formatMoment(first_at)}` : ''}
    </Text>
  )
}
