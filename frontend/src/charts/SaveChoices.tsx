import { Menu, Text } from '@mantine/core'
import { useState } from 'react'
import { isLostFile } from '@/ui/LazyPart'
import type { MenuTarget } from '@/ui/MenuButton'
import { OpenedMenu } from '@/ui/OpenedMenu'
import type { Figure } from './figure'
import { type SaveChoice, saveFigure } from './save'

export interface SaveMenuProps {
  /** Of the chart: "Throughput". */
  what: string
  /** Made when it is taken; what makes it may come then. */
  figure: () => Figure | Promise<Figure>
}

const CHOICES: { label: string; choice: SaveChoice }[] = [
  { label: 'SVG, single column (89 mm)', choice: { format: 'svg', width: 'single' } },
  { label: 'SVG, double column (183 mm)', choice: { format: 'svg', width: 'double' } },
  { label: 'PNG 2×, single column (89 mm)', choice: { format: 'png', width: 'single' } },
  { label: 'PNG 2×, double column (183 mm)', choice: { format: 'png', width: 'double' } },
  { label: 'CSV, the numbers drawn', choice: { format: 'csv' } },
]

const LOST = 'The figure’s script could not be loaded: the connection was lost, or the server has a newer version. Try again.'

function faultText(error: unknown): string {
  if (isLostFile(error)) return LOST
  return error instanceof Error ? error.message : 'The figure could not be drawn.'
}

/** As what a chart is saved: a figure for paper, or the numbers that it shows. */
export function SaveChoices({ what, figure, target }: SaveMenuProps & { target: MenuTarget }) {
  const [fault, setFault] = useState<string | null>(null)
  const take = async (choice: SaveChoice) => {
    setFault(null)
    try {
      await saveFigure(await figure(), choice)
    } catch (error) {
      setFault(faultText(error))
    }
  }
  return (
    <>
      {fault ? (
        <Text size="xs" c="red" role="alert" component="span">
          {fault}
        </Text>
      ) : null}
      <OpenedMenu target={target} position="bottom-end">
        <Menu.Dropdown aria-label={`Save ${what} as`}>
          {CHOICES.map(({ label, choice }) => (
            <Menu.Item key={label} onClick={() => void take(choice)} fz="sm">
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </OpenedMenu>
    </>
  )
}
