import { Menu, Text, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import classes from './charts.module.css'
import type { Figure } from './figure'
import type { SaveChoice } from './save'

interface SaveMenuProps {
  /** Of the chart: "Throughput". */
  what: string
  figure: () => Figure
}

const CHOICES: { label: string; choice: SaveChoice }[] = [
  { label: 'SVG, single column (89 mm)', choice: { format: 'svg', width: 'single' } },
  { label: 'SVG, double column (183 mm)', choice: { format: 'svg', width: 'double' } },
  { label: 'PNG 2×, single column (89 mm)', choice: { format: 'png', width: 'single' } },
  { label: 'PNG 2×, double column (183 mm)', choice: { format: 'png', width: 'double' } },
  { label: 'CSV, the numbers drawn', choice: { format: 'csv' } },
]

/** Takes a chart away: as a figure for paper, or as the numbers that it shows. What draws it is loaded when it is asked for. */
export function SaveMenu({ what, figure }: SaveMenuProps) {
  const [fault, setFault] = useState<string | null>(null)
  const take = async (choice: SaveChoice) => {
    setFault(null)
    try {
      const { saveFigure } = await import('./save')
      await saveFigure(figure(), choice)
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'The figure could not be made.')
    }
  }
  return (
    <>
      {fault ? (
        <Text size="xs" c="red" role="alert" component="span">
          {fault}
        </Text>
      ) : null}
      <Menu position="bottom-end" withinPortal shadow="md">
        <Menu.Target>
          <UnstyledButton className={classes.tableButton} aria-label={`Save ${what}`}>
            Save
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown aria-label={`Save ${what} as`}>
          {CHOICES.map(({ label, choice }) => (
            <Menu.Item key={label} onClick={() => void take(choice)} fz="sm">
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
