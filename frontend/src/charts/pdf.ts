import {
  beginText,
  clip,
  drawSvgPath,
  endPath,
  endText,
  PDFDocument,
  type PDFFont,
  type PDFOperator,
  type PDFPage,
  popGraphicsState,
  pushGraphicsState,
  rectangle,
  rgb,
  StandardFonts,
  setFillingColor,
  setFontAndSize,
  setTextMatrix,
  showText,
} from '@cantoo/pdf-lib'
import type { DotShape, Paint, PathShape, Scene, Shape, TextShape } from './scene'
import { paperColor } from './svg'

/** Fonts that every reader of PDF has, in the order in which they are asked for a letter; so none is embedded. */
const FACES = {
  plain: [StandardFonts.Helvetica, StandardFonts.Symbol, StandardFonts.ZapfDingbats],
  bold: [StandardFonts.HelveticaBold, StandardFonts.Symbol, StandardFonts.ZapfDingbats],
} as const
type Faces = Record<keyof typeof FACES, PDFFont[]>

/** A scene in points as a PDF of one page of its size: paths stay paths, and words can be searched. */
export async function pdfOf({ width, height, shapes }: Scene, title: string, subject: string): Promise<Blob> {
  const file = await PDFDocument.create()
  file.setTitle(title)
  file.setSubject(subject)
  file.setCreator('Downlink')
  const page = file.addPage([width, height])
  new Writer(page, { plain: await embedded(file, 'plain'), bold: await embedded(file, 'bold') }).draw(shapes)
  return new Blob([(await file.save()) as Uint8Array<ArrayBuffer>], { type: 'application/pdf' })
}

const embedded = (file: PDFDocument, face: keyof typeof FACES) => Promise.all(FACES[face].map((name) => file.embedFont(name)))

/** Puts shapes on a page. PDF counts y from below. */
class Writer {
  readonly #page: PDFPage
  readonly #faces: Faces
  readonly #opacities = new Map<number, ReturnType<PDFPage['node']['newExtGState']>>()

  constructor(page: PDFPage, faces: Faces) {
    this.#page = page
    this.#faces = faces
  }

  draw(shapes: readonly Shape[]): void {
    for (const shape of shapes) {
      if (shape.is === 'clip') {
        this.#page.pushOperators(pushGraphicsState(), ...this.#rectangle(shape.d), clip(), endPath())
        this.draw(shape.shapes)
        this.#page.pushOperators(popGraphicsState())
      } else if (shape.is === 'text') this.#text(shape)
      else this.#ink(shape)
    }
  }

  /** The path of a rectangle, as `rectangle` of scene.ts writes it: nothing else clips. */
  #rectangle(d: string): PDFOperator[] {
    const [x, y, width, height, ...rest] = d.match(/-?[\d.]+/g)?.map(Number) ?? []
    if (x === undefined || y === undefined || width === undefined || height === undefined || rest.length !== 1)
      throw new Error(`a clip is no rectangle: ${d}`)
    return [rectangle(x, this.#page.getHeight() - y - height, width, height)]
  }

  #ink(shape: PathShape | DotShape): void {
    const operators = drawSvgPath(shape.is === 'dot' ? circle(shape) : shape.d, {
      x: 0,
      y: this.#page.getHeight(),
      scale: 1,
      rotate: undefined,
      color: shape.fill && color(shape.fill),
      borderColor: shape.stroke && color(shape.stroke),
      borderWidth: shape.stroke ? (shape.width ?? 1) : 0,
      borderDashArray: shape.dash?.split(' ').map(Number),
      graphicsState: shape.opacity === undefined ? undefined : this.#opacity(shape.opacity),
    } as Parameters<typeof drawSvgPath>[1])
    this.#page.pushOperators(...operators)
  }

  #text({ text, x, y, size, anchor = 'start', isBold = false, fill: paint }: TextShape): void {
    const runs = runsOf(text, this.#faces[isBold ? 'bold' : 'plain'])
    const width = runs.reduce((sum, run) => sum + run.font.widthOfTextAtSize(run.text, size), 0)
    let at = x - width * { start: 0, middle: 0.5, end: 1 }[anchor]
    const operators: PDFOperator[] = [setFillingColor(color(paint))]
    for (const { font, text: part } of runs) {
      const name = this.#page.node.newFontDictionary(font.name, font.ref)
      operators.push(
        beginText(),
        setFontAndSize(name, size),
        setTextMatrix(1, 0, 0, 1, at, this.#page.getHeight() - y),
        showText(font.encodeText(part)),
        endText(),
      )
      at += font.widthOfTextAtSize(part, size)
    }
    this.#page.pushOperators(...operators)
  }

  #opacity(value: number) {
    const known = this.#opacities.get(value)
    if (known) return known
    const state = this.#page.doc.context.obj({ Type: 'ExtGState', ca: value, CA: value })
    const made = this.#page.node.newExtGState('opacity', state)
    this.#opacities.set(value, made)
    return made
  }
}

function color(paint: Paint) {
  const hex = Number.parseInt(paperColor(paint).slice(1, 7), 16)
  return rgb((hex >> 16) / 255, ((hex >> 8) & 255) / 255, (hex & 255) / 255)
}

const circle = ({ x, y, r }: DotShape) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`

/** The text in parts that one font each can write. */
function runsOf(text: string, fonts: readonly PDFFont[]): { font: PDFFont; text: string }[] {
  const runs: { font: PDFFont; text: string }[] = []
  for (const letter of text) {
    const font = fonts.find((one) => one.getCharacterSet().includes(letter.codePointAt(0) ?? 0))
    if (!font) throw new Error(`PDF’s own fonts have no “${letter}”: save the figure as SVG or PNG.`)
    const last = runs.at(-1)
    if (last?.font === font) last.text += letter
    else runs.push({ font, text: letter })
  }
  return runs
}
