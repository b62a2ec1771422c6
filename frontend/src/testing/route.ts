import type { World } from './world.ts'

export interface Answer {
  status: number
  body?: unknown
}

export type Respond = (world: World, parts: string[], body: Record<string, unknown>) => Answer
/** Method and path (after /api/v1), with the answer. */
export type Route = [method: string, path: RegExp, respond: Respond]
