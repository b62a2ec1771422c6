import { expect, it } from 'vitest'
import type { RunExits } from '@/api/types'
import { seriesStyle } from '@/charts/palette'
import { said } from '@/testing/recordings'
import { detectorKey, detectorLook, detectorsText, isShown, LOOKS, switched, USUAL_DETECTORS } from './detectors'

const verdicts = (name: string) => said<RunExits>(name).flows[0]?.verdicts ?? []
const PANEL = verdicts('acks-run-1-exits')

it('every detector of the API has letters and a line of its own, none is told by colour alone', () => {
  const looks = PANEL.map(detectorLook)
  expect(looks.map(({ code }) => code)).not.toContain('?')
  expect(new Set(looks.map(({ code }) => code)).size).toBe(PANEL.length)
  expect(
    looks.map(({ key }) => key),
    'in the order of the API',
  ).toEqual(LOOKS.map(([key]) => key))
  expect(new Set(looks.map(({ style }) => Object.values(seriesStyle(style)).join())).size).toBe(PANEL.length)
})

it('a detector that is not known here is shown under its own name', () => {
  expect(detectorLook({ detector: 'newest', version: '2', detect: null })).toMatchObject({ key: 'newest', name: 'newest 2' })
})

it('until a reader chooses, one of each kind is shown; an empty choice is empty', () => {
  expect(PANEL.filter((one) => isShown(detectorKey(one), undefined))).toHaveLength(USUAL_DETECTORS.length)
  expect(isShown('best', [])).toBe(false)
})

it('a switch changes one detector and keeps the order of the list', () => {
  const all = PANEL.map(detectorKey)
  expect(switched('best', undefined, all)).toEqual(USUAL_DETECTORS.filter((key) => key !== 'best'))
  expect(switched('search 3.1', ['best', 'search 1.0'], all)).toEqual(['search 1.0', 'search 3.1', 'best'])
})

it('the detectors that need every ACK are those that decide nothing on polls', () => {
  const undecided = verdicts('recorded-run-1-exits').filter((one) => !one.is_decidable)
  expect(detectorsText({ sampling: 'polled' })).toContain(`${undecided.length} of ${PANEL.length} slow-start detectors`)
  expect(detectorsText({ sampling: 'per_ack' })).toBeNull()
})
