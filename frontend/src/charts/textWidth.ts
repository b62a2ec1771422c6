/** Advance widths of Helvetica, and of Arial and Liberation Sans with it, from the space on, in thousandths of the font size (Adobe's AFM). */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278,
  278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722,
  667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556,
  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]
const OTHER = 584
/** Bold letters are so much wider on average. */
export const BOLD = 1.07

/** How wide a text is, without a screen to measure it on. */
export function textWidth(text: string, size: number, isBold = false): number {
  const sum = [...text].reduce((total, letter) => total + (WIDTHS[letter.charCodeAt(0) - 32] ?? OTHER), 0)
  return (sum * size * (isBold ? BOLD : 1)) / 1000
}

/** Lines of words that are no wider than `width`; a longer word has a line of its own. */
export function wrapped(text: string, width: number, size: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1)
    if (last !== undefined && textWidth(`${last} ${word}`, size) <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** The text, or as much of it as fits with an ellipsis. */
export function fitted(text: string, width: number, size: number): string {
  if (textWidth(text, size) <= width) return text
  let short = text
  while (short.length > 1 && textWidth(`${short}…`, size) > width) short = short.slice(0, -1).trimEnd()
  return `${short}…`
}
