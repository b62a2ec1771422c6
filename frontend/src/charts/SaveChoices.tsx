import { Menu, Text } from '@mantine/core'
import { useState } from 'react'
import { isLostFile } from '@/ui/LazyPart'
import type { MenuTarget } from '@/ui/MenuButton'
import { OpenedMenu } from '@/ui/OpenedMenu'
import type { Figure } from './figure'
import { type CopyChoice, copyLatex, type SaveChoice, saveFigure } from './save'

export interface SaveMenuProps {
  /** Of the chart: "Throughput". */
  what: string
  /** Made when it is taken; what makes it may come then. */
  figure: () => Figure | Promise<Figure>
}

const CHOICES: { label: string; choice: SaveChoice }[] = [
  { label: 'PDF, single column (89 mm)', choice: { format: 'pdf', width: 'single' } },
  { label: 'PDF, double column (183 mm)', choice: { format: 'pdf', width: 'double' } },
  { label: 'SVG, single column (89 mm)', choice: { format: 'svg', width: 'single' } },
  { label: 'SVG, double column (183 mm)', choice: { format: 'svg', width: 'double' } },
  { label: 'PNG 2×, single column (89 mm)', choice: { format: 'png', width: 'single' } },
  { label: 'PNG 2×, double column (183 mm)', choice: { format: 'png', width: 'double' } },
  { label: 'CSV, the numbers drawn', choice: { format: 'csv' } },
]

const COPIES: { label: string; choice: CopyChoice }[] = [
  { label: 'LaTeX, the figure in a single column', choice: { latex: 'figure', width: 'single' } },
  { label: 'LaTeX, the figure in both columns', choice: { latex: 'figure', width: 'double' } },
  { label: 'LaTeX, the numbers as a table', choice: { latex: 'table' } },
]

const LOST = 'The figure’s script could not be loaded: the connection was lost, or the server has a newer version. Try again.'

function faultText(error: unknown): string {
  if (isLostFile(error)) return LOST
  return error instanceof Error ? error.message : 'The figure could not be drawn.'
}

/** As what a chart is saved: a figure for paper, or the numbers that it shows. */
export function SaveChoices({ what, figure, target }: SaveMenuProps & { target: MenuTarget }) {
  const [fault, setFault] = useState<string | null>(null)
  const [done, setDone] = useState('')
  const take = async (taking: (figure: Figure) => Promise<string>) => {
    setFault(null)
    setDone('')
    try {
      setDone(await taking(await figure()))
    } catch (error) {
      setFault(faultText(error))
    }
  }
  const save = (choice: SaveChoice) => take((one) => saveFigure(one, choice).then(() => ''))
  const copy = (choice: CopyChoice) => take((one) => copyLatex(one, choice).then((how) => (how === 'copied' ? 'Copied' : 'Saved')))
  return (
    <>
      {fault ? (
        <Text size="xs" c="red" role="alert" component="span">
          {fault}
        </Text>
      ) : null}
      <Text size="xs" c="dimmed" role="status" component="span">
        {done}
      </Text>
      <OpenedMenu target={target} position="bottom-end">
        <Menu.Dropdown aria-label={`Save ${what} as`}>
          {CHOICES.map(({ label, choice }) => (
            <Menu.Item key={label} onClick={() => void save(choice)} fz="sm">
              {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Label>Copy</Menu.Label>
          {COPIES.map(({ label, choice }) => (
            <Menu.Item key={label} onClick={() => void copy(choice)} fz="sm">
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </OpenedMenu>
    </>
  )
}
