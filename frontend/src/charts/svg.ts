import { heatVariables } from './heat'
import { BACKGROUND, CHART_COLORS, seriesVariables } from './palette'
import type { Paint, Scene, Shape } from './scene'

export const PAPER_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
const MM_PER_POINT = 25.4 / 72

const VARIABLES: Readonly<Record<string, string>> = { ...seriesVariables('light'), ...heatVariables('light') }

/** The light theme's colours, whatever the page's theme; words and axes as dark as print needs them. */
export function paperColor(paint: Paint): string {
  if (paint === 'surface') return BACKGROUND.light
  if (paint === 'chart-text') return CHART_COLORS.light['chart-ink']
  if (paint === 'chart-axis') return CHART_COLORS.light['chart-level']
  return VARIABLES[`--${paint}`] ?? CHART_COLORS.light[paint as keyof (typeof CHART_COLORS)['light']] ?? '#000000'
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (letter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[letter] ?? letter)

function attributes(values: Record<string, string | number | undefined>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${typeof value === 'number' ? Math.round(value * 100) / 100 : escaped(String(value))}"`)
    .join('')
}

/** A scene in points as the text of an SVG file, in millimetres on paper. title, description: what it says to those who cannot see it. */
export function svgText({ width, height, shapes }: Scene, title: string, description: string): string {
  let clips = 0
  const element = (shape: Shape): string => {
    if (shape.is === 'clip') {
      const id = `clip-${++clips}`
      return `<clipPath id="${id}"><path d="${shape.d}"/></clipPath><g clip-path="url(#${id})">${shape.shapes.map(element).join('')}</g>`
    }
    if (shape.is === 'text') {
      const { x, y, size, anchor } = shape
      const weight = shape.isBold ? 'bold' : undefined
      const own = { x, y, fill: paperColor(shape.fill), 'font-size': size, 'text-anchor': anchor, 'font-weight': weight }
      return `<text${attributes(own)}>${escaped(shape.text)}</text>`
    }
    const ink = {
      fill: shape.fill ? paperColor(shape.fill) : 'none',
      stroke: shape.stroke ? paperColor(shape.stroke) : undefined,
      'stroke-width': shape.stroke ? (shape.width ?? 1) : undefined,
      'stroke-dasharray': shape.dash,
      opacity: shape.opacity,
    }
    if (shape.is === 'dot') return `<circle${attributes({ cx: shape.x, cy: shape.y, r: shape.r, ...ink })}/>`
    return shape.d ? `<path${attributes({ d: shape.d, ...ink, 'data-role': shape.role })}/>` : ''
  }
  const [wide, high] = [width, height].map((points) => Math.round(points * MM_PER_POINT * 100) / 100)
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${wide}mm" height="${high}mm" viewBox="0 0 ${Math.round(width * 100) / 100} ${Math.round(height * 100) / 100}" font-family="${PAPER_FONT}">
<title>${escaped(title)}</title>
<desc>${escaped(description)}</desc>
<rect width="100%" height="100%" fill="#ffffff"/>
${shapes.map(element).filter(Boolean).join('\n')}
</svg>
`
}
