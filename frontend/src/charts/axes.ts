/** A shaded stretch of the x axis. */
export interface Window {
  from: number
  to: number
  label: string
}
