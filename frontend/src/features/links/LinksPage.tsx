import { Button, Group, Text } from '@mantine/core'
import { Link as PageLink } from '@tanstack/react-router'
import type { SortingState } from '@tanstack/react-table'
import { type ReactNode, useMemo, useState } from 'react'
import type { Link } from '@/api/types'
import { formatBytes, formatNumber, formatRate } from '@/lib/format'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { type Column, DataTable } from '@/ui/DataTable'
import { Dialog } from '@/ui/Dialog'
import { Empty } from '@/ui/Empty'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { Tag } from '@/ui/Tag'
import { allowanceText } from './form'
import { LinkForm } from './LinkForm'
import { LinkWeather } from './LinkWeather'
import { QuickTest } from './QuickTest'
import { useDeleteLink, useLinks } from './queries'

/** Which form is open: none, an empty one, or one link's. */
type Open = null | 'new' | Link

export function LinksPage() {
  const links = useLinks()
  const [open, setOpen] = useState<Open>(null)
  return (
    <>
      <PageHeader
        title="Links"
        description="Paths under test: a terminal with its receiver, and the servers that send through it."
        actions={
          <Allowed verb="create_link" instead="Your role is read-only; operators add links">
            <Button onClick={() => setOpen('new')}>Add link</Button>
          </Allowed>
        }
      />
      <Panel isFlush>
        <QueryPanel
          query={links}
          empty={({ items }) =>
            items.length === 0 ? (
              <Empty
                title="No links yet"
                action={
                  <Allowed verb="create_link">
                    <Button variant="light" onClick={() => setOpen('new')}>
                      Add link
                    </Button>
                  </Allowed>
                }
              >
                A link needs an agent behind the terminal and at least one sending agent. Add <PageLink to="/agents">agents</PageLink>{' '}
                first.
              </Empty>
            ) : null
          }
        >
          {({ items }) => <LinksTable links={items} onEdit={setOpen} />}
        </QueryPanel>
      </Panel>
      <Dialog opened={open !== null} onClose={() => setOpen(null)} title={open === 'new' ? 'Add a link' : 'Change the link'} size="lg">
        {open === null ? null : <LinkForm link={open === 'new' ? null : open} onDone={() => setOpen(null)} />}
      </Dialog>
    </>
  )
}

const noValue = { enableSorting: false } as const

/** The links; on narrow screens each is a card, so that its buttons stay in sight. */
function LinksTable({ links, onEdit }: { links: Link[]; onEdit: (link: Link) => void }) {
  const hasRelays = links.some(({ relays }) => relays.length > 0)
  const columns = useMemo(() => columnsOf(onEdit).filter(({ id }) => hasRelays || id !== 'relays'), [onEdit, hasRelays])
  const [sorting, setSorting] = useState<SortingState>([])
  return <DataTable label="Links" rows={links} columns={columns} sorting={sorting} onSortingChange={setSorting} />
}

function columnsOf(onEdit: (link: Link) => void): Column<Link>[] {
  return [
    { id: 'name', accessorKey: 'name', header: 'Link', cell: ({ row }) => <Name link={row.original} /> },
    { id: 'orbit', accessorKey: 'orbit', header: 'Orbit' },
    {
      id: 'rate',
      accessorKey: 'nominal_rate_bps',
      header: 'Nominal rate',
      cell: ({ row }) => formatRate(row.original.nominal_rate_bps),
    },
    { id: 'rtt', accessorKey: 'base_rtt_ms', header: 'Base RTT', cell: ({ row }) => `${formatNumber(row.original.base_rtt_ms)} ms` },
    { id: 'bdp', accessorFn: bdpOf, header: 'BDP', cell: ({ row }) => <Whole>{formatBytes(bdpOf(row.original))}</Whole> },
    { id: 'receiver', accessorKey: 'receiver', header: 'Receiver', cell: ({ row }) => <Receivers link={row.original} /> },
    { id: 'senders', header: 'Senders', cell: ({ row }) => <Names of={row.original.senders} />, ...noValue },
    { id: 'relays', header: 'Relays', cell: ({ row }) => <Names of={row.original.relays} />, ...noValue },
    {
      id: 'allowance',
      accessorFn: ({ allowance_bytes }) => allowance_bytes ?? Number.MAX_SAFE_INTEGER,
      header: 'Allowance',
      cell: ({ row }) => allowanceText(row.original),
    },
    { id: 'now', accessorKey: 'run_id', header: 'Now', cell: ({ row }) => <Now link={row.original} />, ...noValue },
    {
      id: 'actions',
      header: '',
      cell: ({ row }) => (
        <Group gap={6} miw={190}>
          <QuickTest links={[row.original]} size="compact-sm" variant="light" aria-label={`Quick test on ${row.original.name}`} />
          <LinkWeather link={row.original} size="compact-sm" variant="default" aria-label={`Dish and weather of ${row.original.name}`} />
          <Allowed verb="change_link" owner={row.original.owner_id}>
            <Button size="compact-sm" variant="default" onClick={() => onEdit(row.original)} aria-label={`Change ${row.original.name}`}>
              Change
            </Button>
            <Delete link={row.original} />
          </Allowed>
        </Group>
      ),
      ...noValue,
    },
  ]
}

const bdpOf = ({ nominal_rate_bps, base_rtt_ms }: Link) => (nominal_rate_bps / 8) * (base_rtt_ms / 1000)

const FEW = 2

function Receivers({ link: { receiver, further_receivers: further = [] } }: { link: Link }) {
  if (further.length <= FEW) return <Names of={[receiver, ...further]} />
  return (
    <>
      {receiver} <span title={further.join(', ')}>and {further.length} further</span>
    </>
  )
}

function Name({ link }: { link: Link }) {
  return (
    <>
      <strong>{link.name}</strong> {link.is_emulated ? <Tag title={link.profile ?? undefined}>emulated</Tag> : null}
      <Text size="xs" c="dimmed">
        {link.operator}
      </Text>
    </>
  )
}

/** Names of agents. They may break at hyphens: unbroken, three columns of them push the buttons out of sight. */
const Names = ({ of: names }: { of: readonly string[] }) =>
  names.length > 0 ? (
    <Text span inherit display="inline-block" miw={110}>
      {names.join(', ')}
    </Text>
  ) : null

const Whole = ({ children }: { children: ReactNode }) => (
  <Text span inherit style={{ whiteSpace: 'nowrap' }}>
    {children}
  </Text>
)

function Now({ link }: { link: Link }) {
  if (!link.run_id) return 'free'
  return (
    <Whole>
      <PageLink to="/runs/$runId" params={{ runId: link.run_id }}>
        a run
      </PageLink>
    </Whole>
  )
}

function Delete({ link }: { link: Link }) {
  const remove = useDeleteLink()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="subtle"
      color="gray"
      aria-label={`Delete ${link.name}`}
      question={`Delete ${link.name}?`}
      consequence="Ended campaigns keep their results and the link's name."
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={(close) => remove.mutate({ params: { path: { link_id: link.id } } }, { onSuccess: close })}
    >
      Delete
    </ConfirmButton>
  )
}
