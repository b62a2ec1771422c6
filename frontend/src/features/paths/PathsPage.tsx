import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import type { ReadyPath, SatellitePath } from '@/api/types'
import { formatNumber } from '@/lib/format'
import { formatDuration, formatMoment } from '@/lib/time'
import { Allowed } from '@/ui/Allowed'
import { Empty } from '@/ui/Empty'
import { LateDialog } from '@/ui/LateDialog'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { StackedTable } from '@/ui/StackedTable'
import { StateBadge } from '@/ui/StateBadge'
import { DeletePath, DownloadPath } from './actions'
import { MakePath } from './MakePath'
import { Making } from './Making'
import { usePaths, useReadyPaths } from './queries'
import { spreadText, whatOf } from './words'

const HEADS = ['Path', 'Length', 'State', 'One-way delay', 'Hops', 'Changes a minute', 'Without a path', '']

/** What was made of the ways through a constellation, to look at before an emulated link replays one. */
export function PathsPage() {
  const paths = usePaths()
  const ready = useReadyPaths()
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <PageHeader
        title="Paths"
        description="How a satellite path between two places changes over time: delay, hops, changes of satellite. An emulated link can replay it."
        actions={
          <Allowed verb="derive" instead="Your role is read-only; operators create paths">
            <Button onClick={open}>Make a path</Button>
          </Allowed>
        }
      />
      <Panel isFlush>
        <QueryPanel
          query={paths}
          empty={({ items }) =>
            items.length === 0 ? (
              <Empty
                title="No paths yet"
                action={
                  <Allowed verb="derive">
                    <Button variant="light" onClick={open}>
                      Make a path
                    </Button>
                  </Allowed>
                }
              >
                Create one of the built-in paths, for example Beijing to New York. When it is ready, view it on the map, then download its
                file for the host that emulates the link.
              </Empty>
            ) : null
          }
        >
          {({ items }) => <PathTable paths={items} ready={ready.data} />}
        </QueryPanel>
      </Panel>
      <LateDialog opened={isOpen} onClose={close} title="Make a path">
        {isOpen ? <MakePath onClose={close} /> : null}
      </LateDialog>
    </>
  )
}

function PathTable({ paths, ready }: { paths: SatellitePath[]; ready: ReadyPath[] | undefined }) {
  const rows = paths.map((path) => ({ key: path.id, cells: cellsOf(path, ready) }))
  return <StackedTable label="Paths" heads={HEADS} rows={rows} whole={['State', '']} verticalSpacing="sm" />
}

function cellsOf(path: SatellitePath, ready: ReadyPath[] | undefined) {
  const { summary } = path
  return [
    <Name key="name" path={path} what={whatOf(ready, path)} />,
    formatDuration(path.duration_us / 1e6),
    <State key="state" path={path} />,
    summary ? spreadText(summary.delay_ms, 'ms') : '',
    summary ? spreadText(summary.hops, '', 1, 0) : '',
    summary ? formatNumber(summary.changes_per_minute) : '',
    summary ? formatDuration(summary.unreachable_s) : '',
    <Actions key="actions" path={path} />,
  ]
}

function Name({ path, what }: { path: SatellitePath; what: string | undefined }) {
  return (
    <>
      <Link to="/paths/$pathId" params={{ pathId: path.id }}>
        {path.ready}
      </Link>
      <Text size="xs" c="dimmed" maw={250} style={{ whiteSpace: 'normal' }}>
        {what ? `${what} · ` : ''}
        {formatMoment(path.created_at)}
      </Text>
    </>
  )
}

function State({ path }: { path: SatellitePath }) {
  if (path.state === 'making' || path.state === 'queued') return <Making path={path} />
  return (
    <>
      <StateBadge state={path.state} />
      {path.reason ? (
        <Text size="xs" mt={4} maw={320} style={{ whiteSpace: 'normal' }}>
          {path.reason}
        </Text>
      ) : null}
    </>
  )
}

function Actions({ path }: { path: SatellitePath }) {
  return (
    <Group gap={4} wrap="nowrap">
      <DownloadPath path={path} isCompact />
      <DeletePath path={path} isCompact />
    </Group>
  )
}
