import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useMemo } from 'react'
import { problemOf } from '@/api/problem'
import { useValues } from '@/api/statistics'
import type { CampaignDay, CampaignDetail, CampaignExits, CampaignValues, Circumstances, LinkFacts, Report } from '@/api/types'
import { momentText, secondsOf } from '@/charts/clock'
import { useCampaign } from '@/features/campaigns/queries'
import { useCampaignDay } from '@/features/days/queries'
import { useCampaignExits } from '@/features/exits/queries'
import { useCampaignLinks, useCircumstances, useReport } from '@/features/results/queries'
import { levelled } from '@/lib/captions'
import { plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { Loading } from '@/ui/QueryPanel'
import { firstPrimary, reportFigures } from './figures'
import { studyLimits } from './limits'
import { askedText, listed, methodParagraphs } from './method'
import { PaperFigure } from './PaperFigure'
import classes from './report.module.css'
import { conditionRows } from './settings'
import { ConditionsTable, DifferencesTable, Failures, firstText, KeyTable, LinksTable, RunsTable } from './tables'
import { usePrintLight } from './usePrintLight'

/** Asks for all that a report is made of; it is shown when all of it is there, so that no half of it is printed. */
export function ReportDocument({ campaignId, back }: { campaignId: string; back?: ReactNode }) {
  const campaign = useCampaign(campaignId)
  const report = useReport(campaignId)
  const day = useCampaignDay(campaignId, 'overall', 'throughput_bps')
  const exits = useCampaignExits(campaignId)
  const around = useCircumstances(campaignId)
  const links = useCampaignLinks(campaignId)
  const first = firstPrimary(campaign.data?.spec ?? { primary_metrics: [] })
  const values = useValues(campaignId, first.phase, first.metric)
  usePrintLight()
  const fault = [campaign, day, around, links].find(({ error, data }) => error && data === undefined)?.error
  if (fault) return <ProblemAlert error={fault} />
  const isNotReady = report.error !== null && problemOf(report.error).code === 'report_not_ready'
  if (report.error && !isNotReady && !report.data) return <ProblemAlert error={report.error} />
  // What a report has nothing of is left out of it; the rest is waited for.
  const isWaiting = report.isPending || exits.isPending || values.isPending
  if (!campaign.data || !day.data || !around.data || !links.data || isWaiting) return <Loading rows={14} />
  return (
    <Document
      campaign={campaign.data}
      report={report.data ?? null}
      day={day.data}
      exits={exits.data ?? null}
      values={values.data ?? null}
      around={around.data}
      links={links.data.items}
      back={back}
    />
  )
}

interface DocumentProps {
  campaign: CampaignDetail
  report: Report | null
  day: CampaignDay
  exits: CampaignExits | null
  values: CampaignValues | null
  around: Circumstances
  links: readonly LinkFacts[]
  back?: ReactNode
}

function Document({ campaign, report, day, exits, values, around, links, back }: DocumentProps) {
  useEffect(() => {
    document.title = `${campaign.name}: report · Downlink`
  }, [campaign.name])
  const figures = useMemo(
    () => (report && report.groups.length > 0 ? reportFigures({ campaign, report, day, exits, values, links: levelled(links) }) : []),
    [campaign, report, day, exits, values, links],
  )
  const { rows, shared } = conditionRows(campaign.spec)
  const limits = studyLimits({ campaign, report, day, around, links })
  return (
    <article className={classes.report} aria-label={`Report of ${campaign.name}`}>
      <div className={classes.top}>
        <span className={classes.kind}>Report of a campaign</span>
        <div className={classes.actions}>
          {back}
          <Button size="xs" variant="default" onClick={() => window.print()}>
            Print or save as PDF
          </Button>
        </div>
      </div>
      <h1>{campaign.name}</h1>
      <p className={classes.facts}>{whenText(campaign, report)}</p>

      <h2>Question</h2>
      <p className={classes.notes}>{campaign.notes || 'The campaign has no notes on its research question.'}</p>
      {campaign.conditions.length > 1 ? (
        <p>It was declared beforehand that the campaign asks about {listed(campaign.spec.primary_metrics.map(askedText))}.</p>
      ) : null}

      <h2>Method</h2>
      {methodParagraphs(campaign, report, around).map((sentences) => (
        <p key={sentences[0]}>{sentences.join(' ')}</p>
      ))}

      <h2>Links</h2>
      <LinksTable links={links} />

      <h2>Conditions and settings</h2>
      <ConditionsTable rows={rows} />
      <Shared who="Set at every sender" text={shared.sender} />
      <Shared who="Set at the receiver" text={shared.receiver} />

      <h2>Runs</h2>
      {day.runs.length > 0 ? <RunsTable day={day} conditions={campaign.conditions} /> : <p>Nothing has been planned yet.</p>}

      <h2>Results</h2>
      {report && report.groups.length > 0 ? (
        <Results report={report} />
      ) : (
        <p>There are no results yet: they come with the first complete runs.</p>
      )}
      {figures.map((figure, index) => (
        <PaperFigure key={`${figure.file} ${figure.caption.slice(0, 20)}`} figure={figure} number={index + 1} />
      ))}

      {day.annotations.length > 0 ? <Meanwhile day={day} /> : null}

      <h2>Failures</h2>
      <Failures day={day} counts={campaign.counts} />

      <h2>Limits of the study</h2>
      {limits.length > 0 ? (
        <ul>
          {limits.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      ) : (
        <p>Nothing is known that would limit what is said above.</p>
      )}
    </article>
  )
}

function whenText({ runs_total, runs_ended, launched_at }: CampaignDetail, report: Report | null): string {
  const runs = runs_ended < runs_total ? `${runs_ended} of ${plural(runs_total, 'run')} have ended` : plural(runs_total, 'run')
  return [
    launched_at ? `Begun ${formatMoment(launched_at)}` : 'Not launched yet',
    runs,
    report ? `computed ${formatMoment(report.computed_at)} by analysis version ${report.analysis_version}` : null,
  ]
    .filter(Boolean)
    .join(' · ')
}

function Results({ report }: { report: Report }) {
  const links = [...new Set(report.groups.map(({ link }) => link))]
  return (
    <>
      <p>Means over n complete runs with their 95 % intervals; times are medians over all runs.</p>
      {links.map((link) => (
        <section key={link} aria-label={link}>
          <h3>{links.length > 1 ? `Key figures over ${link}` : 'Key figures'}</h3>
          <KeyTable report={report} link={link} />
          {report.comparisons.some((one) => one.is_primary && one.link === link) ? (
            <>
              <h3>{links.length > 1 ? `What was asked, over ${link}` : 'What was asked'}</h3>
              <DifferencesTable report={report} link={link} />
            </>
          ) : null}
        </section>
      ))}
    </>
  )
}

function Shared({ who, text }: { who: string; text: string }) {
  return text ? (
    <p>
      {who}, under all conditions:
      <span className={classes.settings} style={{ display: 'block' }}>
        {text}
      </span>
    </p>
  ) : null
}

/** What somebody noted of the time of the campaign. */
function Meanwhile({ day }: { day: CampaignDay }) {
  const first = firstText(day)
  return (
    <>
      <h2>What happened meanwhile</h2>
      {first ? <p>Of the time of {first}.</p> : null}
      <ol>
        {day.annotations.map((one) => (
          <li key={one.id}>
            {momentText(secondsOf(one.from_at))}
            {one.to_at ? ` to ${momentText(secondsOf(one.to_at))}` : ''} UTC
            {one.link ? `, ${one.link}` : ''}: {one.text}
          </li>
        ))}
      </ol>
    </>
  )
}
