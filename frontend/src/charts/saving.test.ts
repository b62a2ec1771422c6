import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const FEATURES = join(import.meta.dirname, '..', 'features')
/** What draws a chart, by the names of its components; other files of charts are axes, keys, tables and what moves over a chart. */
const CHARTS = /<(\w+Chart|HeatMap|ShareBar|Drawing|EventStrip)\b/
/** What draws no chart of its own that could be taken away, and why. */
const WITHOUT: Record<string, string> = {
  'runs/raw/RawChart.tsx': 'drawn by RawStack',
  'runs/raw/RawStack.tsx': 'samples are taken away as they were taken: the traces, as CSV or Parquet, by the tab beside it',
}

const files = readdirSync(FEATURES, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.tsx') && !name.endsWith('.test.tsx'))
const sourceOf = (name: string) => readFileSync(join(FEATURES, name), 'utf8')
const withCharts = files.filter((name) => CHARTS.test(sourceOf(name)) && !(name in WITHOUT))

/** Whether it, or whoever shows what it draws, has a menu to save it. */
function isSaved(name: string, seen: readonly string[] = []): boolean {
  const own = sourceOf(name)
  if (/<SaveMenu\b|\bfigure=\{/.test(own)) return true
  const exported = [...own.matchAll(/^export function (\w+)/gm)].map(([, one]) => one)
  const users = files.filter(
    (other) => other !== name && !seen.includes(other) && exported.some((one) => new RegExp(`<${one}\\b`).test(sourceOf(other))),
  )
  return users.length > 0 && users.every((other) => isSaved(other, [...seen, name]))
}

test('the pages have charts', () => {
  expect(withCharts.length).toBeGreaterThan(10)
  expect(Object.keys(WITHOUT).filter((name) => !files.includes(name))).toEqual([])
})

test.each(withCharts)('%s: what it draws is saved from a menu', (name) => {
  expect(isSaved(name)).toBe(true)
  for (const [, frame = ''] of sourceOf(name).matchAll(/<Frame\b([\s\S]*?)\n\s*>\n/g)) expect(frame).toMatch(/\bfigure=\{/)
})
