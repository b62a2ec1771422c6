export type Cell = string | number | null

/** The numbers of a figure: what it draws, in the units it shows, which the heads name. */
export interface Table {
  heads: string[]
  rows: Cell[][]
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe instead. */
const FORMULA = /^[=+\-@\t\r]/

function cellText(cell: Cell): string {
  if (cell === null) return ''
  // Nine digits are more than any of these numbers has.
  if (typeof cell === 'number') return Number.isFinite(cell) ? String(Number(cell.toPrecision(9))) : ''
  const safe = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** RFC 4180, a missing value is an empty cell. */
export const csvText = ({ heads, rows }: Table): string => [heads, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
