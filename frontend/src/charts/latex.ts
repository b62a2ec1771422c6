import { type Figure, type FigureWidth, WIDTHS_MM } from './figure'
import type { Cell, Table } from './table'

const SPECIAL: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '−': '$-$',
  '±': '$\\pm$',
  '×': '$\\times$',
  '≤': '$\\le$',
  '→': '$\\to$',
  µ: '\\textmu{}',
  '·': '\\textperiodcentered{}',
  '°': '\\textdegree{}',
  σ: '$\\sigma$',
  '…': '\\dots{}',
  '–': '--',
  '’': "'",
  '“': '``',
  '”': "''",
}

/** A text as LaTeX prints it; other letters than these, such as umlauts, it reads as UTF-8. */
export const escaped = (text: string): string => text.replace(/[&%$#_]/g, '\\$&').replace(/[\\{}~^−±×≤→µ·°σ…–’“”]/g, special)

/** The backslash before & % $ # _ was put there just now. */
const special = (letter: string, at: number, whole: string): string =>
  letter === '\\' && /[&%$#_]/.test(whole[at + 1] ?? '') ? letter : (SPECIAL[letter] ?? letter)

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return Number.isFinite(cell) ? escaped(String(Number(cell.toPrecision(4))).replace('-', '−')) : ''
  return escaped(cell)
}

const line = (cells: readonly Cell[]): string => `    ${cells.map(cellText).join(' & ')} \\\\`
const isNumeric = (rows: Table['rows'], column: number) => rows.every((row) => typeof row[column] !== 'string')

/** A figure's numbers as a table with booktabs' rules: numbers to the right with four digits, texts to the left. */
export function latexTable({ title, caption, file, table }: Pick<Figure, 'title' | 'caption' | 'file' | 'table'>): string {
  const columns = table.heads.map((_, column) => (isNumeric(table.rows, column) ? 'r' : 'l')).join('')
  return [
    '% needs \\usepackage{booktabs,textcomp}',
    '\\begin{table}',
    '  \\centering',
    `  \\caption{${escaped(`${title}. ${caption}`)}}`,
    `  \\label{tab:${file}}`,
    `  \\begin{tabular}{${columns}}`,
    '    \\toprule',
    line(table.heads),
    '    \\midrule',
    ...table.rows.map(line),
    '    \\bottomrule',
    '  \\end{tabular}',
    '\\end{table}',
    '',
  ].join('\n')
}

/** What includes the PDF of a figure, with its caption below. */
export function latexFigure({ title, caption, file }: Pick<Figure, 'title' | 'caption' | 'file'>, width: FigureWidth): string {
  const environment = width === 'double' ? 'figure*' : 'figure'
  return [
    '% needs \\usepackage{graphicx,textcomp}',
    `\\begin{${environment}}`,
    '  \\centering',
    `  \\includegraphics[width=${WIDTHS_MM[width]}mm]{${file}.pdf}`,
    `  \\caption{${escaped(`${title}. ${caption}`)}}`,
    `  \\label{fig:${file}}`,
    `\\end{${environment}}`,
    '',
  ].join('\n')
}
