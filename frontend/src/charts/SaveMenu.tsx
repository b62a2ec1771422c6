import { UnstyledButton } from '@mantine/core'
import { MenuButton } from '@/ui/MenuButton'
import classes from './charts.module.css'
import type { SaveMenuProps } from './SaveChoices'

const loadChoices = () => import('./SaveChoices').then(({ SaveChoices }) => SaveChoices)

/** Takes a chart away: as a figure for paper, or as the numbers that it shows. What draws it is loaded when it is asked for. */
export function SaveMenu(props: SaveMenuProps) {
  const button = (
    <UnstyledButton className={classes.tableButton} aria-label={`Save ${props.what}`}>
      Save
    </UnstyledButton>
  )
  return <MenuButton target={button} load={loadChoices} props={props} />
}
