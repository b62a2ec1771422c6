/** A stretch of a run, in seconds from its zero. */
export interface Span {
  from_s: number
  to_s: number
}

/** Finer than the kernel's clock of samples. */
const LEAST_S = 20e-6
/** The server's clock has microseconds. */
const rounded = (value_s: number) => Math.round(value_s * 1e6) / 1e6

/** Around a moment, or the middle, as long as `factor` times the span; within the whole. */
export function zoomed(span: Span, whole: Span, factor: number, around_s?: number | null): Span {
  const length = Math.max(LEAST_S, Math.min(whole.to_s - whole.from_s, (span.to_s - span.from_s) * factor))
  const middle = around_s != null && around_s >= span.from_s && around_s <= span.to_s ? around_s : (span.from_s + span.to_s) / 2
  return within({ from_s: middle - length / 2, to_s: middle + length / 2 }, whole)
}

/** Moved by a share of its length; to the left below zero. */
export function panned(span: Span, whole: Span, share: number): Span {
  const by = (span.to_s - span.from_s) * share
  return within({ from_s: span.from_s + by, to_s: span.to_s + by }, whole)
}

/** The same length, moved until it lies within the whole. */
function within({ from_s, to_s }: Span, whole: Span): Span {
  const length = Math.min(to_s - from_s, whole.to_s - whole.from_s)
  const from = Math.min(Math.max(from_s, whole.from_s), whole.to_s - length)
  return { from_s: rounded(from), to_s: rounded(from + length) }
}

/** What the address asks for, where it is a stretch of time; else the whole. */
export function shownSpan(asked: Partial<Span>, whole: Span): Span {
  const span = { from_s: asked.from_s ?? whole.from_s, to_s: asked.to_s ?? whole.to_s }
  return span.from_s < span.to_s ? span : whole
}

/** Seconds with as many decimals as tell a thousandth of the span apart, microseconds at most. */
export function secondsText(value_s: number, { from_s, to_s }: Span): string {
  const decimals = Math.min(6, Math.max(2, Math.ceil(-Math.log10(Math.max(1e-9, (to_s - from_s) / 1000)))))
  return value_s.toFixed(decimals)
}
