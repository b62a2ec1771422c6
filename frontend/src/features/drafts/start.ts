import type { Link } from '@/api/types'
import { exampleSource } from './example'
import { findTemplate, loadTemplate } from './templates'
import { readUnsaved } from './unsaved'

/** The start of a file that was chosen from this computer: its text is kept as unsaved at once. */
export const FILE_START = 'file'
const EXAMPLE_START = 'example'

/** The text that a start stands for; null where it stands for nothing. */
export async function textOfStart(start: string | undefined, links: readonly Link[]): Promise<string | null> {
  if (start === EXAMPLE_START) return exampleSource(links[0]?.name ?? 'geo-viasat')
  if (start === FILE_START) return readUnsaved(FILE_START) ? '' : null
  const template = findTemplate(start)
  return template ? loadTemplate(template, links) : null
}
