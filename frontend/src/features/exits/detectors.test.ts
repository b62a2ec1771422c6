import { expect, it } from 'vitest'
import { seriesStyle } from '@/charts/palette'
import { detectorKey, detectorLook, isShown, switched, USUAL_DETECTORS } from './detectors'

const KERNELS = ['6.x', '5.10', '<=5.4']
const PANEL = [
  { detector: 'observed_exit', version: 'ssthresh', detect: null },
  { detector: 'first_loss', version: 'lost or retransmitted', detect: null },
  ...['1.0', '3.1', '4.0'].map((version) => ({ detector: 'search', version, detect: null })),
  ...KERNELS.flatMap((version) => [3, 1, 2].map((detect) => ({ detector: 'hystart', version, detect }))),
  { detector: 'hystart++', version: 'RFC 9406', detect: null },
  { detector: 'best', version: 'cubic_bw 2022-10', detect: null },
]

it('every detector of the API has letters and a line of its own, none is told by colour alone', () => {
  const looks = PANEL.map(detectorLook)
  expect(looks.map(({ code }) => code)).not.toContain('?')
  expect(new Set(looks.map(({ code }) => code)).size).toBe(PANEL.length)
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
