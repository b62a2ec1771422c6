import { MantineProvider, Menu } from '@mantine/core'
import { render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it, vi } from 'vitest'
import { LateDialog } from './LateDialog'
import { MenuButton, type MenuTarget } from './MenuButton'
import { OpenedMenu } from './OpenedMenu'

function Fruits({ target }: { target: MenuTarget }) {
  return (
    <OpenedMenu target={target}>
      <Menu.Dropdown aria-label="Fruits">
        <Menu.Item>Apple</Menu.Item>
        <Menu.Item>Pear</Menu.Item>
      </Menu.Dropdown>
    </OpenedMenu>
  )
}

const button = <button type="button">Choose</button>

it('opens at the first press, by keyboard alone, and gives the focus back', async () => {
  const load = vi.fn(async () => Fruits)
  render(
    <MantineProvider env="test">
      <main>
        <MenuButton target={button} load={load} props={{}} />
      </main>
    </MantineProvider>,
  )
  expect(load).not.toHaveBeenCalled()
  await userEvent.tab()
  expect(load, 'the script comes when the focus does').toHaveBeenCalled()
  await userEvent.keyboard('{Enter}')
  const menu = await screen.findByRole('menu', { name: /Choose|Fruits/ })
  expect(menu.closest('main')).not.toBeNull()
  expect([...menu.children].map((child) => child.getAttribute('role'))).toEqual(['menuitem', 'menuitem'])
  await waitFor(() => expect(document.activeElement?.textContent).toBe('Apple'))
  await userEvent.keyboard('{ArrowDown}')
  expect(document.activeElement?.textContent).toBe('Pear')
  await userEvent.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('menu')).toBeNull())
  await waitFor(() => expect(document.activeElement?.textContent).toBe('Choose'))
})

it('says in its place that the menu did not come', async () => {
  const load = vi.fn(() => Promise.reject(new TypeError('Failed to fetch dynamically imported module: /assets/menu.js')))
  vi.spyOn(console, 'error').mockImplementation(() => undefined) // React names the fault that the boundary takes
  render(
    <MantineProvider env="test">
      <MenuButton target={button} load={load} props={{}} />
    </MantineProvider>,
  )
  await userEvent.click(screen.getByRole('button', { name: 'Choose' }))
  expect((await screen.findByRole('alert')).textContent).toContain('could not be loaded')
})

it('a dialog that is loaded when it is opened gives the focus back to what opened it', async () => {
  const dialog = (opened: boolean) => (
    <MantineProvider env="test">
      <button type="button">Open</button>
      <LateDialog opened={opened} onClose={() => undefined} title="Sure?">
        <button type="button">Yes</button>
      </LateDialog>
    </MantineProvider>
  )
  const { rerender } = render(dialog(false))
  screen.getByRole('button', { name: 'Open' }).focus()
  rerender(dialog(true))
  await screen.findByRole('dialog', { name: 'Sure?' })
  await waitFor(() => expect(document.activeElement?.textContent).not.toBe('Open'))
  rerender(dialog(false))
  await waitFor(() => expect(document.activeElement?.textContent).toBe('Open'))
})
