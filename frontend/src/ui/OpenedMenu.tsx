import { Menu, type MenuProps } from '@mantine/core'
import { cloneElement, useEffect, useRef, useState } from 'react'
import type { MenuTarget } from './MenuButton'

interface OpenedMenuProps extends Pick<MenuProps, 'children' | 'position' | 'width' | 'withinPortal'> {
  target: MenuTarget
}

/** A menu that opens as soon as it is there: its button was pressed before its script was loaded. */
export function OpenedMenu({ target, children, ...menu }: OpenedMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    button.current?.focus() // where the focus comes back to
    setOpen(true)
  }, [])
  return (
    // A menu holds its items alone, so no element for the first focus; and it is a part of the page's main content.
    <Menu
      {...menu}
      opened={isOpen}
      onChange={setOpen}
      withInitialFocusPlaceholder={false}
      portalProps={{ target: document.querySelector<HTMLElement>('main') ?? document.body }}
    >
      <Menu.Target>{cloneElement(target, { ref: button })}</Menu.Target>
      {children}
    </Menu>
  )
}
