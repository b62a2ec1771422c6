import { expect, it } from 'vitest'
import { MAX_FILE_BYTES, refusalsOf, sizeProblem, withFiles } from './refusals'

it('reads refusals from the problem, and nothing from another one', () => {
  const refused = [{ file: 'a.json', reason: 'is empty' }]
  expect(refusalsOf({ code: 'import_refused', message: 'a.json: is empty', details: { refused } })).toEqual(refused)
  expect(refusalsOf({ code: 'import_refused', message: 'x', details: { refused: [null, { file: 1 }] } })).toEqual([])
  expect(refusalsOf({ code: 'import_under_way', message: 'wait', details: {} })).toEqual([])
  expect(refusalsOf(null)).toEqual([])
})

it('a file is chosen once', () => {
  const file = (name: string) => new File(['x'], name, { lastModified: 1 })
  expect(withFiles([file('a')], [file('a'), file('b'), file('b')]).map(({ name }) => name)).toEqual(['a', 'b'])
})

it('says what is too much before it is sent', () => {
  const of = (size: number, count = 1) => Array.from({ length: count }, () => ({ name: 'a.gz', size }))
  expect(sizeProblem(of(5))).toBeNull()
  expect(sizeProblem(of(MAX_FILE_BYTES + 1))).toContain('a.gz is larger')
  expect(sizeProblem(of(MAX_FILE_BYTES, 2))).toContain('at once')
  expect(sizeProblem(of(1, 501))).toContain('At most 500 files')
})
