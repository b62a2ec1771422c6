import { amount, choice, oneOf, text, texts } from '@/lib/search'

/** Of a campaign's exits: whose distribution, which detectors, and the maps of a sweep. */
export interface CampaignExitsSearch {
  group?: string | undefined
  detectors?: string[] | undefined
  /** The sweep whose maps are shown, the parameters on their axes, and "name=value" for each that is held. */
  sweep?: string | undefined
  x?: string | undefined
  y?: string | undefined
  at?: string[] | undefined
}

export function parseCampaignExitsSearch(search: Record<string, unknown>): CampaignExitsSearch {
  return {
    group: text(search.group),
    detectors: choice(search.detectors),
    sweep: text(search.sweep),
    x: text(search.x),
    y: text(search.y),
    at: texts(search.at),
  }
}

/** Of a run's exits: the flow, the detectors, and the stretch of time; seconds after the flow's first data byte. */
export interface RunExitsSearch {
  flow?: number | undefined
  detectors?: string[] | undefined
  range?: 'all' | undefined
  from_s?: number | undefined
  to_s?: number | undefined
}

export function parseRunExitsSearch(search: Record<string, unknown>): RunExitsSearch {
  return {
    flow: amount(search.flow),
    detectors: choice(search.detectors),
    range: oneOf(search.range, ['all']),
    from_s: amount(search.from_s),
    to_s: amount(search.to_s),
  }
}

/** Whether a change is one that Back undoes: another stretch of time. */
export function isZoom(change: object): boolean {
  return 'from_s' in change || 'to_s' in change || 'range' in change
}
