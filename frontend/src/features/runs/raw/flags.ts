import type { RunMoment } from '@/api/types'
import type { Glyph, Mark } from '@/charts/marks'
import type { Span } from './span'

interface Flag {
  code: string
  label: string
  style: number
  glyph: Glyph
}

const FLAGS: Record<RunMoment['kind'], Flag> = {
  first_byte: { code: '1st', label: 'First byte', style: 2, glyph: 'triangle' },
  slow_start_exit: { code: 'exit', label: 'Slow start left', style: 5, glyph: 'circle' },
  first_loss: { code: 'loss', label: 'First loss', style: 7, glyph: 'cross' },
  end: { code: 'end', label: 'Last byte', style: 0, glyph: 'square' },
  outage: { code: 'out', label: 'Outage', style: 1, glyph: 'diamond' },
  handover: { code: 'gap', label: 'Handover gap', style: 3, glyph: 'hexagon' },
  annotation: { code: 'note', label: 'Annotation', style: 4, glyph: 'bar' },
}

/** More flags than these hide each other: the stretches stay shaded, the list has all of them. */
export const MOST_FLAGS = 24

export const atSeconds = ({ at_us }: RunMoment) => at_us / 1e6

/** "Outage on the way to the receiver", "First loss of flow 1", "Annotation: heavy rain". */
export function momentText({ kind, flow, way, text }: RunMoment): string {
  if (text) return `${FLAGS[kind].label}: ${text}`
  if (way) return `${FLAGS[kind].label} on the way ${way === 'down' ? 'to the receiver' : 'back'}`
  return `${FLAGS[kind].label}${flow === null ? '' : ` of flow ${flow}`}`
}

/** What concerns this flow: its own moments, and those of the link. */
export const momentsOf = (moments: readonly RunMoment[], flow: number) => moments.filter((one) => one.flow === null || one.flow === flow)

/** Flags within the span: of the link's only while they are few. */
export function flagMarks(moments: readonly RunMoment[], span: Span): Mark[] {
  const within = moments.filter((one) => atSeconds(one) >= span.from_s && atSeconds(one) <= span.to_s)
  const isCrowded = within.length > MOST_FLAGS
  return within
    .filter(({ way }) => !isCrowded || way === null)
    .map((one) => ({
      id: `${one.kind} ${one.flow ?? one.way ?? one.text} ${one.at_us}`,
      x: atSeconds(one),
      ...FLAGS[one.kind],
      label: momentText(one),
    }))
}

/** Stretches in which the link was held up, in seconds. */
export const shadedStretches = (moments: readonly RunMoment[]): Span[] =>
  moments.flatMap((one) => (one.until_us === null ? [] : [{ from_s: atSeconds(one), to_s: one.until_us / 1e6 }]))
