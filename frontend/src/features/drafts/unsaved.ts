/** What was typed and not saved, kept in this browser so that leaving the page loses nothing. */
const PREFIX = 'downlink.unsaved.'

export interface Unsaved {
  text: string
  at: string
}

/** Storage may be full, switched off or hold another program's words: then nothing is kept. */
export function readUnsaved(key: string): Unsaved | null {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(PREFIX + key) ?? 'null')
    const isOurs = typeof found === 'object' && found !== null && 'text' in found && 'at' in found
    return isOurs ? (found as Unsaved) : null
  } catch {
    return null
  }
}

export function keepUnsaved(key: string, unsaved: Unsaved): void {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(unsaved))
  } catch {
    // The text is still on the page.
  }
}

export function forgetUnsaved(key: string): void {
  try {
    localStorage.removeItem(PREFIX + key)
  } catch {
    // Nothing was kept.
  }
}

/** Everything that is kept, the newest first. */
export function allUnsaved(): (Unsaved & { key: string })[] {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX))
      .flatMap((full) => {
        const key = full.slice(PREFIX.length)
        const found = readUnsaved(key)
        return found ? [{ ...found, key }] : []
      })
      .sort((a, b) => b.at.localeCompare(a.at))
  } catch {
    return []
  }
}

/** Texts of new campaigns have the start that they were made from as key; those of saved drafts begin so. */
export const isOfSaved = (key: string) => key.startsWith('draft ')
