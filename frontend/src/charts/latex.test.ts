import { expect, it } from 'vitest'
import { escaped, latexFigure, latexTable } from './latex'

const FIGURE = {
  file: 'throughput',
  title: 'Throughput',
  caption: 'Mean of 95 % of runs_3, 2–4 “fast”.',
  table: {
    heads: ['Condition', 'Mean (Mb/s)'],
    rows: [
      ['HyStart & {off}\\x', -12.34567],
      ['', null],
    ],
  },
}

it('a text is printed as it is written, whatever LaTeX reads in it', () => {
  expect(escaped('100 % of a_b & c#1 $ ~ ^ \\ {x}')).toBe(
    '100 \\% of a\\_b \\& c\\#1 \\$ \\textasciitilde{} \\textasciicircum{} \\textbackslash{} \\{x\\}',
  )
  expect(escaped('−3 ± 1 µs, ≤ 4 × 2 → “é”')).toBe("$-$3 $\\pm$ 1 \\textmu{}s, $\\le$ 4 $\\times$ 2 $\\to$ ``é''")
})

it('numbers are a table with rules, in four digits', () => {
  expect(latexTable(FIGURE)).toBe(`% needs \\usepackage{booktabs,textcomp}
\\begin{table}
  \\centering
  \\caption{Throughput. Mean of 95 \\% of runs\\_3, 2--4 \`\`fast''.}
  \\label{tab:throughput}
  \\begin{tabular}{lr}
    \\toprule
    Condition & Mean (Mb/s) \\\\
    \\midrule
    HyStart \\& \\{off\\}\\textbackslash{}x & $-$12.35 \\\\
     &  \\\\
    \\bottomrule
  \\end{tabular}
\\end{table}
`)
})

it.each([
  ['single', 'figure', 89],
  ['double', 'figure*', 183],
] as const)('a %s column is included as %s of %s mm', (width, environment, wide_mm) => {
  const text = latexFigure(FIGURE, width)
  expect(text).toContain(`\\begin{${environment}}`)
  expect(text).toContain(`\\includegraphics[width=${wide_mm}mm]{throughput.pdf}`)
})
