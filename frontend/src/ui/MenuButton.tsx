import { type ComponentType, cloneElement, type ReactElement, useState } from 'react'
import { LazyPart } from './LazyPart'

/** What opens the menu, as an element that takes a button's properties. */
export type MenuTarget = ReactElement<Record<string, unknown>>

interface MenuButtonProps<Props extends object> {
  target: MenuTarget
  /** The menu, which takes the button over and is open when it comes. */
  load: () => Promise<ComponentType<Props & { target: MenuTarget }>>
  props: Props
}

/** A button with a menu. Few are opened: its script comes when the pointer or the focus reaches the button. */
export function MenuButton<Props extends object>({ target, load, props }: MenuButtonProps<Props>) {
  const [isAsked, setAsked] = useState(false)
  const fetchAhead = () => void load().catch(() => undefined)
  const menu = { 'aria-haspopup': 'menu' }
  if (isAsked) return <LazyPart load={load} props={{ ...props, target }} waiting={cloneElement(target, { ...menu, 'aria-busy': true })} />
  return cloneElement(target, {
    ...menu,
    'aria-expanded': false,
    onClick: () => setAsked(true),
    onPointerEnter: fetchAhead,
    onFocus: fetchAhead,
  })
}
