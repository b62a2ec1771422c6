import { PDFDocument, PDFRawStream } from '@cantoo/pdf-lib'
import { unzlibSync } from 'fflate'
import { expect, it } from 'vitest'
import { pdfOf } from './pdf'
import { rectangle, type Scene } from './scene'

const SCENE: Scene = {
  width: 252.28,
  height: 100,
  shapes: [
    { is: 'path', d: rectangle(0, 0, 50, 20), fill: 'surface' },
    {
      is: 'clip',
      d: rectangle(10, 20, 30, 40),
      shapes: [{ is: 'path', d: 'M10 20L40 60', stroke: 'chart-ink', dash: '4 3', opacity: 0.4 }],
    },
    { is: 'dot', x: 20, y: 30, r: 2, fill: 'series-1' },
    { is: 'text', x: 126, y: 90, text: 'RTT −3 ≤ µs → “x”', size: 8, fill: 'chart-ink', anchor: 'middle' },
  ],
}

async function written(scene: Scene) {
  const file = await PDFDocument.load(await (await pdfOf(scene, 'Title', 'Caption of 3 runs.')).arrayBuffer())
  const streams = file.context
    .enumerateIndirectObjects()
    .map(([, one]) => one)
    .filter((one): one is PDFRawStream => one instanceof PDFRawStream)
    .map((one) => new TextDecoder('latin1').decode(unzlibSync(one.contents)))
  return { file, content: streams.find((text) => text.includes(' Tm')) ?? '' }
}

it('a figure is one page of its size, which says what it is', async () => {
  const { file } = await written(SCENE)
  expect(file.getPages().map((page) => page.getSize())).toEqual([{ width: 252.28, height: 100 }])
  expect([file.getTitle(), file.getSubject()]).toEqual(['Title', 'Caption of 3 runs.'])
})

it('shapes stay paths inside their clip, and words stay words, in fonts that need no embedding', async () => {
  const { file, content } = await written(SCENE)
  // Drawn from above, clipped from below: 100 - 20 - 40.
  expect(content).toMatch(/10 40 30 40 re\s+W\s+n/)
  expect(content).toMatch(/\[4 3\] 0 d/)
  expect(content.match(/ Tf/g)).toHaveLength(7)
  const fonts = file.context.enumerateIndirectObjects().flatMap(([, one]) => String(one).match(/BaseFont \/([\w-]+)/)?.[1] ?? [])
  expect(fonts).toEqual(expect.arrayContaining(['Helvetica', 'Symbol']))
})

it('a letter that no such font has is refused with what to do', async () => {
  const scene: Scene = { ...SCENE, shapes: [{ is: 'text', x: 0, y: 10, text: '衛星', size: 8, fill: 'chart-ink' }] }
  await expect(written(scene)).rejects.toThrow('PDF’s own fonts have no “衛”: save the figure as SVG or PNG.')
})
