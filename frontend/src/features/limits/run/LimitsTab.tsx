import { Text } from '@mantine/core'
import type { FlowLimits, Run } from '@/api/types'
import { BandTable } from '@/charts/BandTable'
import type { BandSeries } from '@/charts/bands'
import { CursorSlider } from '@/charts/CursorSlider'
import { CursorProvider, useCursor } from '@/charts/cursor'
import { Frame } from '@/charts/Frame'
import { LayerSwatch } from '@/charts/layers'
import { ShareChart } from '@/charts/ShareChart'
import { LIMITS } from '@/lib/quantities'
import { hasTcp } from '@/lib/runs'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { secondsFigure } from '../figures'
import { useRunLimits } from '../queries'
import { adviceSentence, mainLimitSentence, percent, silenceReason } from './advice'
import classes from './limits.module.css'

const HEIGHT = 190

/** What held each flow back, second by second. */
export function LimitsTab({ run }: { run: Run }) {
  const limits = useRunLimits(run.id)
  return (
    <Panel
      title="What limited the flows"
      description="Share of each second in which the sender waited for a window or a buffer, or had nothing to send. From the kernel's counters."
      isFlush
    >
      <QueryPanel query={limits} empty={({ flows }) => (flows.length === 0 ? <NotJudged run={run} /> : null)}>
        {({ flows }) => (
          <CursorProvider>
            {flows.map((flow) => (
              <Flow key={flow.flow} flow={flow} run={run} />
            ))}
          </CursorProvider>
        )}
      </QueryPanel>
    </Panel>
  )
}

function NotJudged({ run }: { run: Run }) {
  if (!hasTcp(run)) return <Empty title="No flow of this run is TCP">The kernel counts what limits a flow for TCP alone.</Empty>
  return (
    <Empty title="No flow has been judged">
      {run.reason
        ? 'The run ended without a usable trace; its reason is above.'
        : 'It is computed when the traces are uploaded and sealed.'}
    </Empty>
  )
}

function Flow({ flow, run }: { flow: FlowLimits; run: Run }) {
  const title = `Flow ${flow.flow}: ${flow.cc}`
  if (flow.shares === null) {
    const sampling = run.flows.find((one) => one.flow === flow.flow)?.sampling ?? null
    return <Empty title={`${title}: not known`}>{silenceReason(sampling, run.import_source !== null)}</Empty>
  }
  const { bin_s } = flow.seconds
  const [from, to] = [0, (bin_s.at(-1) ?? 0) + 1]
  return (
    <div className={classes.stack}>
      <Key flow={flow} shares={flow.shares} />
      <CursorSlider from={from} to={to - 1} unit="s" />
      <Frame
        title={title}
        unit="share of each second"
        height={HEIGHT}
        table={() => (
          <BandTable caption={`${title}: percent of each second`} xLabel="s" series={numbers(flow)} factor={100} {...{ from, to }} />
        )}
        figure={() => secondsFigure(run, flow, from, to)}
      >
        {(width) => <ShareChart {...{ width, from, to }} height={HEIGHT} x={bin_s} layers={LIMITS.map(({ name }) => flow.seconds[name])} />}
      </Frame>
      <Text size="xs" c="dimmed" ta="center">
        Seconds since the flow's first data byte
      </Text>
      <Text size="sm" p="sm">
        <strong>{mainLimitSentence(flow.shares)}</strong> {flow.advice ? adviceSentence(flow.advice, run.hosts) : null}
      </Text>
    </div>
  )
}

/** Legend, shares of the whole flow, and the values at the cursor in one. */
function Key({ flow, shares }: { flow: FlowLimits; shares: NonNullable<FlowLimits['shares']> }) {
  const x = useCursor()
  const bin = x === null ? -1 : flow.seconds.bin_s.indexOf(x)
  const shown = (name: (typeof LIMITS)[number]['name']) => (bin < 0 ? shares[name] : (flow.seconds[name][bin] ?? null))
  return (
    <div className={classes.limits}>
      <span>{bin < 0 ? 'Whole flow' : `At ${x} s`}</span>
      {LIMITS.map(({ name, title }, layer) => {
        const share = shown(name)
        return (
          <span key={name}>
            <LayerSwatch layer={layer} />
            {title} <strong>{share === null ? '–' : percent(share)}</strong>
          </span>
        )
      })}
    </div>
  )
}

function numbers({ seconds }: FlowLimits): BandSeries[] {
  const none = seconds.bin_s.map(() => null)
  return LIMITS.map(({ name, title }, style) => ({
    id: name,
    label: title,
    style,
    x: seconds.bin_s,
    band: { mean: seconds[name], low: none, high: none, n: seconds.bin_s.map(() => 0) },
  }))
}
