import { problemOf } from '@/api/problem'
import { formatBytes } from '@/lib/format'

/** What the server takes at once (docs/imports.md); asked before anything is sent. */
export const MAX_FILES = 500
export const MAX_FILE_BYTES = 256 * 2 ** 20
export const MAX_UPLOAD_BYTES = 500 * 2 ** 20

export interface Refusal {
  file: string
  reason: string
}

/** The files that the server refused, each with its reason; none when it failed for another cause. */
export function refusalsOf(error: unknown): Refusal[] {
  const { code, details } = problemOf(error)
  const found = code === 'import_refused' ? details?.refused : null
  return Array.isArray(found) ? found.filter((one): one is Refusal => typeof one?.file === 'string' && typeof one.reason === 'string') : []
}

/** The refusals of a file and of the tests in it: `log.tgz: a/b.json`, `log (2 of 3)`. */
export function refusalsWithin(file: Pick<File, 'name'>, refused: readonly Refusal[]): Refusal[] {
  const own = (name: string) => name === file.name || name.startsWith(`${file.name}: `) || name.startsWith(`${file.name} (`)
  return refused.filter((one) => own(one.file))
}

/** Whether anything may remain: a file that is not refused, or one of which only some tests are. */
export function hasOthers(files: readonly Pick<File, 'name'>[], refused: readonly Refusal[]): boolean {
  return files.some((file) => !refused.some((one) => one.file === file.name))
}

/** Chosen files with new ones after them; one that is there already, by name and size, is not added again. */
export function withFiles(chosen: readonly File[], added: readonly File[]): File[] {
  const isSame = (a: File, b: File) => a.name === b.name && a.size === b.size && a.lastModified === b.lastModified
  const all = [...chosen, ...added]
  return all.filter((file, place) => all.findIndex((one) => isSame(one, file)) === place)
}

/** Why these cannot be sent together; null when they can. */
export function sizeProblem(files: readonly Pick<File, 'name' | 'size'>[]): string | null {
  const large = files.find(({ size }) => size > MAX_FILE_BYTES)
  if (large) return `${large.name} is larger than ${formatBytes(MAX_FILE_BYTES)}. Compress it with gzip or zstd.`
  if (files.length > MAX_FILES) return `At most ${MAX_FILES} files at once. Import the others afterwards into the same campaign.`
  const total = files.reduce((sum, { size }) => sum + size, 0)
  return total > MAX_UPLOAD_BYTES
    ? `These are ${formatBytes(total)}; at most ${formatBytes(MAX_UPLOAD_BYTES)} at once. Import some of them afterwards into the same campaign.`
    : null
}
