import { useEffect, useState } from 'react'
import type { DialogProps } from './Dialog'
import { LazyPart } from './LazyPart'

const loadDialog = () => import('./Dialog').then(({ Dialog }) => Dialog)

/** A dialog on a page that must be quick: what dialogs are made of is loaded when it is opened. */
export function LateDialog(props: DialogProps) {
  const [wasOpened, setOpened] = useState(props.opened)
  useEffect(() => setOpened((was) => was || props.opened), [props.opened])
  return wasOpened ? <LazyPart load={loadDialog} props={props} waiting={null} /> : null
}
