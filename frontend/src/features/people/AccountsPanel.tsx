import { Alert, Group, Select } from '@mantine/core'
import { useState } from 'react'
import type { Account } from '@/api/types'
import { formatMoment, formatRelative } from '@/lib/time'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { CopyCommand } from '@/ui/CopyCommand'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { StackedTable } from '@/ui/StackedTable'
import { useNow } from '@/ui/useNow'
import { useAccounts, useChangeRole, useOfferPassword, useRemoveAccount } from './queries'
import { ROLES, type Role } from './roles'

export function AccountsPanel() {
  const accounts = useAccounts()
  return (
    <Panel title="Accounts" isFlush>
      <QueryPanel query={accounts}>{({ items }) => <AccountTable accounts={items} />}</QueryPanel>
    </Panel>
  )
}

function AccountTable({ accounts }: { accounts: Account[] }) {
  const now_ms = useNow()
  const [offered, setOffered] = useState<{ name: string; link: string } | null>(null)
  return (
    <>
      {offered ? (
        <Alert
          m="md"
          color="green"
          variant="light"
          title={`${offered.name} sets a new password with this link. It is shown only once and works once, within seven days.`}
        >
          <CopyCommand value={offered.link} label="The link to a new password" />
        </Alert>
      ) : null}
      <StackedTable
        label="Accounts"
        heads={['User name', 'Role', 'Signed in', 'Since', '']}
        whole={['']}
        rows={accounts.map((account) => ({
          key: account.id,
          cells: [
            `${account.username}${account.is_own ? ' (you)' : ''}`,
            <RoleChoice key="role" account={account} />,
            formatRelative(account.signed_in_at, now_ms),
            formatMoment(account.created_at),
            <Group key="verbs" gap="xs" justify="flex-end" wrap="nowrap">
              <NewPassword account={account} onOffered={(link) => setOffered({ name: account.username, link })} />
              <Remove account={account} />
            </Group>,
          ],
        }))}
      />
    </>
  )
}

function RoleChoice({ account }: { account: Account }) {
  const change = useChangeRole()
  return (
    <>
      <Select
        aria-label={`Role of ${account.username}`}
        size="xs"
        w={130}
        allowDeselect={false}
        data={ROLES.map(({ value }) => value)}
        value={account.role}
        disabled={change.isPending}
        onChange={(role) => role && change.mutate({ params: { path: { account_id: account.id } }, body: { role: role as Role } })}
      />
      {change.error ? <ProblemAlert error={change.error} /> : null}
    </>
  )
}

function NewPassword({ account, onOffered }: { account: Account; onOffered: (link: string) => void }) {
  const offer = useOfferPassword()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={`Create a password link for ${account.username}?`}
      consequence="The old password works until the link is used; then every browser of this account is signed out."
      isPending={offer.isPending}
      error={offer.error}
      onConfirm={(close) =>
        offer.mutate(
          { params: { path: { account_id: account.id } } },
          {
            onSuccess: ({ link }) => {
              onOffered(link)
              close()
            },
          },
        )
      }
    >
      New password
    </ConfirmButton>
  )
}

function Remove({ account }: { account: Account }) {
  const remove = useRemoveAccount()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={`Remove the account of ${account.username}?`}
      consequence="Its browsers are signed out, and its tokens end. Its campaigns and links stay; admins can change them."
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={(close) => remove.mutate({ params: { path: { account_id: account.id } } }, { onSuccess: close })}
    >
      Remove
    </ConfirmButton>
  )
}
