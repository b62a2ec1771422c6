import { expect, it } from 'vitest'
import { placedProblems, problemOf } from './problem'

it('a problem from the server is kept as it is', () => {
  const problem = { code: 'campaign_not_found', message: 'There is no such campaign.', details: {} }
  expect(problemOf(problem)).toBe(problem)
})

it.each([
  [new TypeError('Failed to fetch'), 'server_unreachable'],
  [new SyntaxError('Unexpected token <'), 'answer_unreadable'],
  ['<html>502</html>', 'answer_unreadable'],
  [undefined, 'answer_unreadable'],
])('%o becomes %s, with a sentence', (error, code) => {
  const problem = problemOf(error)
  expect(problem.code).toBe(code)
  expect(problem.message).toMatch(/\.$/)
})

it('places are read from the details, and only whole ones', () => {
  const problems = [{ place: 'stop.seconds', message: 'must be above 0', line: 4 }, { place: 3 }, null]
  expect(placedProblems({ code: 'campaign_invalid', message: '', details: { problems } })).toEqual([problems[0]])
  expect(placedProblems({ code: 'x', message: '', details: {} })).toEqual([])
})
