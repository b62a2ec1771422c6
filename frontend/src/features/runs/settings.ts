import type { RunHost } from '@/api/types'

export interface SettingRow {
  name: string
  asked: string | null
  before: string | null
  during: string | null
  after: string | null
  /** Asked for something that was not in force while the run went on. */
  isRefused: boolean
  /** Not back to its value from before. */
  isLeft: boolean
}

/** Spaces between numbers may differ between what was asked and what the kernel prints. */
const same = (a: string, b: string) => a.trim().split(/\s+/).join(' ') === b.trim().split(/\s+/).join(' ')

/** One row per setting, the ones that the run changed first. */
export function settingRows(host: RunHost): SettingRow[] {
  const { settings_asked: asked, settings_before: before, settings_during: during, settings_after: after } = host
  const names = new Set([asked, before, during, after].flatMap((settings) => Object.keys(settings ?? {})))
  const rows = [...names].sort().map((name): SettingRow => {
    const row = {
      name,
      asked: asked[name] ?? null,
      before: before?.[name] ?? null,
      during: during?.[name] ?? null,
      after: after?.[name] ?? null,
    }
    return {
      ...row,
      isRefused: row.asked !== null && row.during !== null && !same(row.asked, row.during),
      isLeft: row.before !== null && row.after !== null && !same(row.before, row.after),
    }
  })
  return [...rows.filter((row) => row.asked !== null), ...rows.filter((row) => row.asked === null)]
}
