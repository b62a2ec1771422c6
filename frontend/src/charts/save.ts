import { pngOf } from './canvas'
import { type Figure, type FigureWidth, figureCsv, figureScene, figureSvg, PIXELS_PER_POINT } from './figure'

export type SaveChoice = { format: 'svg' | 'png'; width: FigureWidth } | { format: 'csv' }

/** A figure as a file that the browser saves. */
export async function saveFigure(figure: Figure, choice: SaveChoice): Promise<void> {
  const url = URL.createObjectURL(await fileOf(figure, choice))
  const anchor = document.createElement('a')
  anchor.href = url
  anchor.download = `${figure.file}.${choice.format}`
  anchor.click()
  // The download has begun by then; the browser reads the rest itself.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

async function fileOf(figure: Figure, choice: SaveChoice): Promise<Blob> {
  if (choice.format === 'csv') return new Blob([figureCsv(figure)], { type: 'text/csv;charset=utf-8' })
  if (choice.format === 'svg') return new Blob([figureSvg(figure, choice)], { type: 'image/svg+xml' })
  return pngOf(figureScene(figure, choice), PIXELS_PER_POINT)
}
