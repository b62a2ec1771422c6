import { expect, it } from 'vitest'
import { clockText, isLoopback, pauseText, rolesText, statusState, statusText } from './status'

const idle = { status: 'idle', is_online: true, is_too_old: false, progress: null, revoked_at: null, pause: null, detail: null } as const
const pause = { by: 'anna', until: '2026-01-02T03:04:05Z', why: 'maintenance' }

it.each([
  [idle, 'idle', 'complete'],
  [{ ...idle, is_online: false }, 'offline', 'missed'],
  [{ ...idle, status: 'running', progress: { elapsed_s: 3, bytes: 5 } } as const, 'measuring', 'running'],
  [{ ...idle, status: 'uploading', progress: { chunks_done: 2, chunks_total: 7 } } as const, 'uploading 2 of 7', 'uploading'],
  [{ ...idle, pause }, 'paused', 'cancelled'],
  [{ ...idle, status: 'blocked', detail: 'paused by its owner until 2026-03-02 15:00 UTC' } as const, 'paused', 'cancelled'],
  [{ ...idle, pause, status: 'running' } as const, 'measuring', 'running'],
  [{ ...idle, status: 'blocked' } as const, 'blocked', 'failed'],
  [{ ...idle, is_too_old: true, is_online: false }, 'too old', 'failed'],
  [{ ...idle, revoked_at: '2026-01-02T03:04:05Z' }, 'revoked', 'cancelled'],
])('%o is %s', (agent, text, state) => {
  expect(statusText(agent)).toBe(text)
  expect(statusState(agent)).toBe(state)
})

it("a host's clock is told with its error", () => {
  expect(clockText(undefined)).toBe('–')
  expect(clockText({ offset_ms: 1.5, error_ms: 0.4 })).toBe('1.5 ms behind the server’s, ± 0.4 ms')
  expect(clockText({ offset_ms: -20, error_ms: 3 })).toBe('20.0 ms ahead of the server’s, ± 3.0 ms')
})

it('a pause names who set it, its end and its reason', () => {
  expect(pauseText(pause)).toMatch(/^Paused by anna until .*2026.* \(maintenance\)\.$/)
  expect(pauseText({ by: 'anna', until: null, why: null })).toBe('Paused by anna until somebody resumes it.')
})

it('the roles of a host are what it does', () => {
  expect(rolesText(['sender', 'receiver'])).toBe('sends and receives')
  expect(rolesText(['relay'])).toBe('relays')
})

it.each([
  ['downlink-agent join --server http://127.0.0.1:8400 --token x', true],
  ['downlink-agent join --server http://localhost --token x', true],
  ['downlink-agent join --server https://[::1]:8400 --token x', true],
  ['downlink-agent join --server https://127.example:8400 --token x', false],
  ['downlink-agent join --server http://192.0.2.7:8400 --token x', false],
])('%s works on the server’s own machine only: %s', (command, expected) => {
  expect(isLoopback(command)).toBe(expected)
})
