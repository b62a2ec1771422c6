import { expect, it } from 'vitest'
import { readTable } from './tableFacts'

async function* pieces(text: string, length: number) {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += length) yield bytes.slice(at, at + length)
}

it.each([1, 3, 1000])('a table that comes in pieces of %d bytes has its rows, its bytes and its first lines', async (length) => {
  const text = 'a,b\r\n1,"two\nlines, ""said"""\r\n2,µs\r\n'
  const { rows, bytes, lines } = await readTable(pieces(text, length))
  expect([rows, bytes]).toEqual([2, new TextEncoder().encode(text).length])
  expect(lines[0]).toBe('a,b')
  expect(lines.at(-1)).toBe('2,µs')
})

it('a table without rows has its heads, and of a long one the first lines are kept', async () => {
  expect(await readTable(pieces('a,b\r\n', 2))).toEqual({ rows: 0, bytes: 5, lines: ['a,b'] })
  const long = await readTable(pieces(`n\r\n${Array.from({ length: 5000 }, (_, n) => `${n}\r\n`).join('')}`, 700))
  expect([long.rows, long.lines]).toEqual([5000, ['n', '0', '1', '2']])
})
