import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { editList, readDraft } from './document'
import { conditionsOf, FACTOR_KINDS, factorTitle, type Matrix, madeFactor, matrixOf } from './matrix'

const conditions = (file: string) =>
  (readDraft(readFileSync(`../docs/examples/${file}`, 'utf8')).data?.conditions ?? []) as Record<string, unknown>[]

function found(file: string): Matrix {
  const matrix = matrixOf(conditions(file))
  if (!matrix) throw new Error(`${file} is no matrix`)
  return matrix
}

it('the buffer study is 2 send buffers × 4 receive buffers × autotuning, by the names that it gives them', () => {
  const { factors } = found('studies/000-a-buffers.yaml')
  expect(factors.map((factor) => [factorTitle(factor), factor.levels.map(({ label }) => label)])).toEqual([
    ['Send buffer', ['wmem default', 'wmem 60 MB']],
    ['Receive buffer', ['rmem default', 'rmem start doubled', 'rmem most doubled', 'rmem 60 MB']],
    ['Autotuning of the receive buffer', ['autotuning', 'no autotuning']],
  ])
})

it.each(['studies/000-a-buffers.yaml', 'hystart-on-off.yaml', 'initial-window.yaml', 'search-24-hours.yaml', 'paper-001-pairs.yaml'])(
  'the conditions of %s come out of its factors as they were',
  (file) => expect(conditionsOf(found(file))).toEqual(conditions(file)),
)

it('a control with its options is one factor', () => {
  const { factors } = found('search-24-hours.yaml')
  expect(factors).toHaveLength(1)
  expect(factors[0]?.levels.map(({ label }) => label)).toEqual(['HyStart', 'SEARCH 3.1', 'none'])
  expect(factors[0]?.levels[0]?.values).toEqual([undefined, undefined])
})

it('conditions that are not every combination are a list', () => {
  expect(
    matrixOf([
      { name: 'a', sender: { x: 1, y: 1 } },
      { name: 'b', sender: { x: 1, y: 2 } },
      { name: 'c', sender: { x: 2, y: 1 } },
    ]),
  ).toBeNull()
  expect(matrixOf([{ name: 'a' }, { name: 'b' }])).toBeNull()
  expect(matrixOf([])).toBeNull()
})

it('factors are added to what one condition has, and what all share stays', () => {
  const matrix = matrixOf([{ name: 'a', stop: { seconds: 5 } }])
  const [control, hystart] = FACTOR_KINDS
  if (!matrix || !control || !hystart) throw new Error('no matrix')
  const made = conditionsOf({ ...matrix, factors: [madeFactor(control), madeFactor(hystart)] })
  expect(made.map(({ name }) => name)).toEqual(['Cubic, HyStart on', 'Cubic, HyStart off', 'BBR, HyStart on', 'BBR, HyStart off'])
  expect(made[3]).toEqual({ name: 'BBR, HyStart off', sender: { 'tcp_cubic.hystart': 0 }, stop: { seconds: 5 }, flows: [{ cc: 'bbr' }] })
  expect(matrixOf(made)?.factors.map(factorTitle)).toEqual(['Congestion control', 'HyStart'])
})

it('names without a part for each factor leave labels to the values', () => {
  const made = matrixOf([
    { name: 'first', sender: { 'tcp_cubic.hystart': 1 }, flows: [{ cc: 'cubic' }] },
    { name: 'second', sender: { 'tcp_cubic.hystart': 0 }, flows: [{ cc: 'cubic' }] },
    { name: 'third', sender: { 'tcp_cubic.hystart': 1 }, flows: [{ cc: 'bbr' }] },
    { name: 'fourth', sender: { 'tcp_cubic.hystart': 0 }, flows: [{ cc: 'bbr' }] },
  ])
  expect(made?.factors.map(({ levels }) => levels.map(({ label }) => label))).toEqual([
    ['cubic', 'bbr'],
    ['1', '0'],
  ])
})

it('a list that is rewritten keeps the comments of items that stay', () => {
  const text = 'conditions:\n  # first\n  - {name: a}\n  - {name: b} # second\n'
  const changed = editList(text, ['conditions'], [{ name: 'b' }, { name: 'c', flows: [{ cc: 'bbr' }] }])
  expect(readDraft(changed).data).toEqual({ conditions: [{ name: 'b' }, { name: 'c', flows: [{ cc: 'bbr' }] }] })
  expect(changed).toContain('- {name: b} # second')
  expect(changed).toContain('- {name: c, flows: [{cc: bbr}]}')
})
