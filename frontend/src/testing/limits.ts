import type { CampaignLimits, FlowLimits, Report, RunLimits, RunSummary } from '@/api/types'
import { isPerAck } from './examples.ts'
import { estimate } from './model.ts'

const ADVICE = { bdp_bytes: 10_746_000, is_lower_bound: false, max_bytes: 26_869_760 }
const SECONDS = 35

/** A download whose congestion window opens until the receive window holds it, with two seconds of an idle sender. */
function makeSeconds(opened_s: number): FlowLimits['seconds'] {
  const bin_s = Array.from({ length: SECONDS }, (_, second) => second)
  const isIdle = (second: number) => second === 20 || second === 21
  const receive = (second: number) => (isIdle(second) ? 0 : Math.min(0.8, Math.max(0, (second - opened_s) / 10)))
  const buffer = (second: number) => (isIdle(second) || second < opened_s ? 0 : 0.1)
  const column = (value: (second: number) => number) => bin_s.map((second) => (second === 28 ? null : value(second)))
  return {
    bin_s,
    congestion_window: column((second) => (isIdle(second) ? 0.25 : 1 - receive(second) - buffer(second))),
    receive_window: column(receive),
    send_buffer: column(buffer),
    application: column((second) => (isIdle(second) ? 0.75 : 0)),
  }
}

const total = (values: (number | null)[]) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / (SECONDS - 1)

export function makeRunLimits(run: RunSummary): RunLimits {
  if (run.state !== 'complete') return { run_id: run.id, flows: [] }
  const seconds = makeSeconds(run.condition === 'HyStart on' ? 17 : 6)
  const shares = {
    congestion_window: total(seconds.congestion_window),
    receive_window: total(seconds.receive_window),
    send_buffer: total(seconds.send_buffer),
    application: total(seconds.application),
  }
  return { run_id: run.id, flows: [{ flow: 1, cc: 'cubic', seconds, shares: isPerAck(run) ? null : shares, advice: ADVICE }] }
}

export function makeCampaignLimits(report: Report): CampaignLimits {
  const spread = (share: number) => estimate([share, share * 1.08, share * 0.92])
  return {
    campaign_id: report.campaign_id,
    groups: report.groups.map(({ link, condition, flow, cc, runs }, place) => {
      const receive = 0.25 + 0.3 * place
      const shares = {
        congestion_window: spread(1 - receive - 0.07),
        receive_window: spread(receive),
        send_buffer: spread(0.06),
        application: spread(0.01),
      }
      return { link, condition, flow, cc, runs, shares, advice: ADVICE }
    }),
    advice: [
      {
        ...ADVICE,
        link: 'geo-viasat',
        rmem: '4096 131072 26869760',
        wmem: '4096 16384 26869760',
        sentence: 'For downloads over geo-viasat, let buffers grow to 26.9 MB.',
      },
    ],
  }
}
