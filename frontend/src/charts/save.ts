import { pngOf } from './canvas'
import { type Figure, type FigureWidth, figureCsv, figureScene, figureSvg, PIXELS_PER_POINT } from './figure'
import { latexFigure, latexTable } from './latex'

export type SaveChoice = { format: 'pdf' | 'svg' | 'png'; width: FigureWidth } | { format: 'csv' }
export type CopyChoice = { latex: 'table' } | { latex: 'figure'; width: FigureWidth }

/** A figure as a file that the browser saves. */
export async function saveFigure(figure: Figure, choice: SaveChoice): Promise<void> {
  save(await fileOf(figure, choice), `${figure.file}.${choice.format}`)
}

function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const anchor = document.createElement('a')
  anchor.href = url
  anchor.download = name
  anchor.click()
  // The download has begun by then; the browser reads the rest itself.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Puts the LaTeX of a figure on the clipboard. A page without https has none: then it is saved as a file. Answers what was done. */
export async function copyLatex(figure: Figure, choice: CopyChoice): Promise<'copied' | 'saved'> {
  const text = choice.latex === 'table' ? latexTable(figure) : latexFigure(figure, choice.width)
  if (!navigator.clipboard) {
    save(new Blob([text], { type: 'application/x-tex;charset=utf-8' }), `${figure.file}.tex`)
    return 'saved'
  }
  await navigator.clipboard.writeText(text)
  return 'copied'
}

async function fileOf(figure: Figure, choice: SaveChoice): Promise<Blob> {
  if (choice.format === 'csv') return new Blob([figureCsv(figure)], { type: 'text/csv;charset=utf-8' })
  if (choice.format === 'svg') return new Blob([figureSvg(figure, choice)], { type: 'image/svg+xml' })
  // The writer of PDF is larger than all charts together: it is loaded when it is wanted.
  if (choice.format === 'pdf') return (await import('./pdf')).pdfOf(figureScene(figure, choice), figure.title, figure.caption)
  return pngOf(figureScene(figure, choice), PIXELS_PER_POINT)
}
