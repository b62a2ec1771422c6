import { Alert, Stack, Table, Text } from '@mantine/core'
import type { Run, RunHost } from '@/api/types'
import { NO_VALUE } from '@/lib/format'
import { Empty } from '@/ui/Empty'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'
import { ScrollTable } from '@/ui/ScrollTable'
import { factItems } from './fingerprint'
import classes from './runs.module.css'
import { type SettingRow, settingRows } from './settings'

/** Per host: what was asked, what was before, during and after, and what the host was. */
export function SettingsTab({ run }: { run: Run }) {
  if (run.hosts.length === 0) {
    return (
      <Panel>
        <Empty title="No host was prepared for this run">Its settings would appear here.</Empty>
      </Panel>
    )
  }
  return (
    <Stack gap="lg">
      {run.hosts.map((host) => (
        <HostPanel key={host.agent} host={host} />
      ))}
    </Stack>
  )
}

function HostPanel({ host }: { host: RunHost }) {
  const rows = settingRows(host)
  return (
    <Panel title={host.agent} description={`${host.roles.join(' and ')} · ${restoredText(host)}`} isFlush>
      {host.is_restored === false ? (
        <Alert color="red" variant="light" title="This host was not restored" m="md">
          Type <code>downlink-agent restore</code> on it. {host.differences.map(String).join(', ')}
        </Alert>
      ) : null}
      {rows.length > 0 ? <SettingsTable agent={host.agent} rows={rows} /> : null}
      {host.fingerprint ? (
        <div style={{ padding: 16 }}>
          <Facts items={factItems(host.fingerprint)} />
        </div>
      ) : null}
    </Panel>
  )
}

function restoredText(host: RunHost): string {
  if (host.is_restored === null) return 'not yet put back'
  return host.is_restored ? 'put back as it was' : 'differs from before'
}

function SettingsTable({ agent, rows }: { agent: string; rows: SettingRow[] }) {
  return (
    // Roles are said aloud: on narrow screens these elements are no table boxes, and browsers then drop their roles.
    <ScrollTable label={`Settings of ${agent}`} role="table" data-stacks>
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          {['Setting', 'Asked', 'Before', 'During', 'After'].map((head) => (
            <Table.Th key={head} scope="col" role="columnheader">
              {head}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {rows.map((row) => (
          <Table.Tr key={row.name} role="row">
            <Table.Th scope="row" role="rowheader" fw={500}>
              <code>{row.name}</code>
            </Table.Th>
            <Value label="Asked" value={row.asked} />
            <Value label="Before" value={row.before} />
            <Value label="During" value={row.during} warning={row.isRefused ? 'not as asked' : undefined} />
            <Value label="After" value={row.after} warning={row.isLeft ? 'not put back' : undefined} />
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  )
}

function Value({ label, value, warning }: { label: string; value: string | null; warning?: string | undefined }) {
  return (
    <Table.Td role="cell" data-label={label} className={classes.setting}>
      {value ?? NO_VALUE}
      {warning ? (
        <Text span size="xs" c="red" fw={600}>
          {' '}
          {warning}
        </Text>
      ) : null}
    </Table.Td>
  )
}
