import type { components } from './schema'

/** The generated shapes under the names that pages use. */
type Schemas = components['schemas']

export type Agent = Schemas['Agent']
export type Campaign = Schemas['Campaign']
export type CampaignDetail = Schemas['CampaignDetail']
export type CampaignPreview = Schemas['CampaignPreview']
export type CampaignSpec = Schemas['CampaignSpec']
export type Comparison = Schemas['Comparison']
export type Condition = Schemas['Condition']
export type Enrolment = Schemas['Enrolment']
export type Fairness = Schemas['Fairness']
export type FlowSeries = Schemas['FlowSeries']
export type Group = Schemas['Group']
export type Interval = Schemas['Interval']
export type Link = Schemas['Link']
export type LinkBody = Schemas['LinkBody']
export type LiveEvent = Schemas['LiveEvent']
export type PhaseMetrics = Schemas['PhaseMetrics']
export type Phases = Schemas['Phases']
export type PlannedRun = Schemas['PlannedRun']
export type Problem = Schemas['Problem']
export type Report = Schemas['Report']
export type Run = Schemas['Run']
export type RunFlow = Schemas['RunFlow']
export type RunHost = Schemas['RunHost']
export type RunList = Schemas['RunList']
export type RunSeries = Schemas['RunSeries']
export type RunState = Schemas['RunSummary']['state']
export type RunSummary = Schemas['RunSummary']
export type SeriesBand = Schemas['SeriesBand']
export type Session = Schemas['Session']
export type Token = Schemas['Token']

export type PhaseName = Fairness['phase']
export type SeriesName = Exclude<keyof Schemas['GroupSeries'], 'bin_s'>
export type MetricName = keyof PhaseMetrics
