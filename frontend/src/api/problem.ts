import type { Problem } from './types'

/** Something wrong at a place of what was sent: a key of a campaign file, a field of a form. */
export interface PlacedProblem {
  place: string
  message: string
  line?: number | undefined
}

const UNREACHABLE: Problem = {
  code: 'server_unreachable',
  message: 'The server does not answer. Check that it is running and that this computer is online; the page tries again by itself.',
  details: {},
}

/** Whether a request failed because nothing answered. The shell shows that once for the whole page. */
export const isUnreachable = (error: unknown) => problemOf(error).code === UNREACHABLE.code

export function isProblem(error: unknown): error is Problem {
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error
}

/** Whatever a request failed with, as the one problem shape. */
export function problemOf(error: unknown): Problem {
  if (isProblem(error) && typeof error.code === 'string') return error
  if (error instanceof TypeError) return UNREACHABLE
  return { code: 'answer_unreadable', message: 'The server’s answer cannot be read. See its log for details.', details: {} }
}

/** The places that a problem names, in their order. */
export function placedProblems(problem: Problem): PlacedProblem[] {
  const found = problem.details?.problems
  if (!Array.isArray(found)) return []
  return found.filter(
    (entry): entry is PlacedProblem =>
      typeof entry === 'object' && entry !== null && typeof entry.place === 'string' && typeof entry.message === 'string',
  )
}
