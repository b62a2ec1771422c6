import { useState } from 'react'
import { forgetUnsaved, keepUnsaved, readUnsaved } from './unsaved'

/** A text that is kept in this browser while it differs from what it began with. */
export function useDraftText(key: string, start: string) {
  const [restored, setRestored] = useState(() => readUnsaved(key))
  const [text, setText] = useState(restored?.text ?? start)
  const change = (next: string) => {
    setText(next)
    if (next === start) forgetUnsaved(key)
    else keepUnsaved(key, { text: next, at: new Date().toISOString() })
  }
  const discard = () => {
    setRestored(null)
    change(start)
  }
  /** When the text was typed that an earlier visit left here. */
  const restoredAt = restored && restored.text !== start ? restored.at : null
  return { text, change, discard, isChanged: text !== start, restoredAt, forget: () => forgetUnsaved(key) }
}
