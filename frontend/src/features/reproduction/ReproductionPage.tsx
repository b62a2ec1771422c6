import { Anchor, Stack, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { CampaignReproduction, ReproducedValue } from '@/api/types'
import { PublishedMark } from '@/charts/PublishedMark'
import { Swatch } from '@/charts/Swatch'
import { publishedText, READINGS } from '@/lib/published'
import { Empty } from '@/ui/Empty'
import { Estimate } from '@/ui/Estimate'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { ScrollTable } from '@/ui/ScrollTable'
import { useReproductions } from './queries'
import { comparedText, countText, type Figure, figuresOf, oursText, type Row, spanOf, toleranceText } from './table'

const ORIGINS = { measured: 'measured here', recorded: 'recorded elsewhere', imported: 'imported' } as const

/** Published values beside those of every campaign that names them. */
export function ReproductionPage() {
  const found = useReproductions()
  return (
    <>
      <PageHeader
        title="Reproduction"
        description="Published values beside measured ones, over emulated and real links: each with its 95 % interval and n, and whether that interval contains the published value."
      />
      <QueryPanel query={found} skeletonRows={8} empty={({ items }) => (items.length === 0 ? <None /> : null)}>
        {({ items }) => (
          <Stack gap="lg">
            {figuresOf(items).map((figure) => (
              <FigurePanel key={`${figure.paper} ${figure.figure}`} figure={figure} />
            ))}
          </Stack>
        )}
      </QueryPanel>
    </>
  )
}

function None() {
  return (
    <Panel>
      <Empty title="No campaign names a published figure yet">
        Write <code>reproduces</code> into a campaign file: a paper, a figure, and for each published value the metric and condition that it
        is compared to. docs/campaign-file.md has an example, and the recorded one is loaded by <code>make seed</code>.
      </Empty>
    </Panel>
  )
}

function FigurePanel({ figure: { paper, figure, campaigns, rows } }: { figure: Figure }) {
  return (
    <Panel title={`${paper}, ${figure}`} description="Dashed: published. Dot and bar: measured, with its 95 % interval." isFlush>
      <ScrollTable label={`${paper}, ${figure}`} role="table" data-stacks>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            <Table.Th scope="col" role="columnheader">
              Value
            </Table.Th>
            <Table.Th scope="col" role="columnheader">
              Published
            </Table.Th>
            {campaigns.map((campaign, style) => (
              <Table.Th key={campaign.campaign_id} scope="col" role="columnheader">
                <Head campaign={campaign} style={style} />
              </Table.Th>
            ))}
            <Table.Td role="cell" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <ValueRow key={row.name} row={row} campaigns={campaigns} />
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Panel>
  )
}

function Head({ campaign: { campaign_id, name, origin, runs }, style }: { campaign: CampaignReproduction; style: number }) {
  return (
    <>
      <Swatch style={style} />{' '}
      <Anchor
        size="sm"
        inherit
        renderRoot={(props) => <Link to="/campaigns/$campaignId" params={{ campaignId: campaign_id }} {...props} />}
      >
        {name}
      </Anchor>
      <Text size="xs" c="dimmed">
        {ORIGINS[origin]}, {runs} runs
      </Text>
    </>
  )
}

function ValueRow({ row, campaigns }: { row: Row; campaigns: readonly CampaignReproduction[] }) {
  const { published, ours } = row
  return (
    <Table.Tr role="row">
      <Table.Th scope="row" role="rowheader" fw={500} style={{ whiteSpace: 'normal' }}>
        {row.name}
        <Text size="xs" c="dimmed">
          {comparedText(published)}
        </Text>
      </Table.Th>
      <Table.Td role="cell" data-label="Published" style={{ whiteSpace: 'normal' }}>
        {publishedText(published)}
        <Text size="xs" c="dimmed">
          {[toleranceText(published), published.source].filter(Boolean).join(' · ')}
        </Text>
      </Table.Td>
      {ours.map((value, index) => (
        <Table.Td role="cell" key={campaigns[index]?.campaign_id} data-label={campaigns[index]?.name} style={{ whiteSpace: 'normal' }}>
          {value ? <Ours value={value} /> : 'not named'}
        </Table.Td>
      ))}
      <Table.Td role="cell" data-whole>
        <PublishedMark ours={ours} least={published.least} most={published.most} {...spanOf(row)} />
      </Table.Td>
    </Table.Tr>
  )
}

function Ours({ value }: { value: ReproducedValue }) {
  const isOff = value.reading === 'outside' || value.reading === 'near'
  return (
    <>
      {value.n > 0 ? <Estimate text={oursText(value)} /> : null} <strong>{READINGS[value.reading]}</strong>
      <Text size="xs" c="dimmed">
        {value.n > 0 ? countText(value) : 'Launch the campaign; values appear after its first runs.'}
      </Text>
      {isOff && value.why ? (
        <Text size="xs" maw="60ch">
          {value.why}
        </Text>
      ) : null}
    </>
  )
}
