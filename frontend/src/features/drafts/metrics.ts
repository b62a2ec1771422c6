import { METRICS, phaseChoices, phaseTitle } from '@/lib/quantities'
import { listAt } from './document'

/** Phases of a draft to choose from, its windows among them. */
export const phasesOf = (data: unknown) =>
  phaseChoices((listAt(data, ['windows']) as { name?: string }[]).flatMap(({ name }) => (name ? [{ name }] : [])))

/** "phase.metric" for each phase of a draft. */
export const metricChoices = (data: unknown) =>
  phasesOf(data).flatMap(({ value: phase }) =>
    METRICS.map(({ name, title }) => ({ value: `${phase}.${name}`, label: `${title}, ${phaseTitle(phase).toLowerCase()}` })),
  )
