import { type Tone, toneOf } from '@/lib/states'
import classes from './ui.module.css'

/** The shape tells the tone as well as the colour does. */
const MARK: Record<Tone, string> = {
  waiting: '○',
  active: '◐',
  good: '●',
  partial: '◑',
  bad: '✕',
  ended: '–',
}

export function StateBadge({ state, label }: { state: string; label?: string }) {
  const tone = toneOf(state)
  return (
    <span className={classes.badge} data-tone={tone}>
      <span aria-hidden="true" className={classes.badgeMark}>
        {MARK[tone]}
      </span>
      {label ?? state}
    </span>
  )
}
