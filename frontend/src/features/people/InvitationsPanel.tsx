import { Alert, Button, Group, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Invitation } from '@/api/types'
import { formatMoment } from '@/lib/time'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { CopyCommand } from '@/ui/CopyCommand'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { StackedTable } from '@/ui/StackedTable'
import { useInvitations, useInvite, useWithdraw } from './queries'
import { ROLES, type Role } from './roles'

export function InvitationsPanel() {
  const invitations = useInvitations()
  return (
    <>
      <NewInvitation />
      <Panel title="Open invitations" isFlush>
        <QueryPanel
          query={invitations}
          empty={({ items }) =>
            items.length === 0 ? <Empty title="No open invitations">Make one above, and hand its link over.</Empty> : null
          }
        >
          {({ items }) => <InvitationTable invitations={items} />}
        </QueryPanel>
      </Panel>
    </>
  )
}

function NewInvitation() {
  const invite = useInvite()
  const form = useForm({
    initialValues: { name: '', role: 'operator' as Role },
    validate: { name: (value) => (value.trim() ? null : 'Say whom you invite') },
  })
  const submit = form.onSubmit((body) => invite.mutate({ body }, { onSuccess: () => form.reset() }))
  return (
    <Panel title="Invite somebody">
      <form onSubmit={submit} noValidate>
        <Group align="flex-end" gap="md">
          <TextInput label="Whom" placeholder="Ada Example" required flex="1 1 220px" {...form.getInputProps('name')} />
          <Select
            label="As"
            flex="1 1 300px"
            allowDeselect={false}
            data={ROLES.map(({ value }) => value)}
            description={ROLES.find(({ value }) => value === form.values.role)?.may}
            {...form.getInputProps('role')}
          />
          <Button type="submit" loading={invite.isPending}>
            Make an invitation
          </Button>
        </Group>
      </form>
      {invite.error ? <ProblemAlert error={invite.error} /> : null}
      {invite.data ? (
        <Alert
          mt="md"
          color="green"
          variant="light"
          title={`Give this link to ${invite.data.name}. It is shown only once and works once, within seven days.`}
        >
          <CopyCommand value={invite.data.link} label="The invitation" />
        </Alert>
      ) : null}
    </Panel>
  )
}

function InvitationTable({ invitations }: { invitations: Invitation[] }) {
  return (
    <StackedTable
      label="Open invitations"
      heads={['For', 'To', 'Made by', 'Ends', '']}
      whole={['']}
      rows={invitations.map((each) => ({
        key: each.id,
        cells: [
          each.name,
          each.user_id ? 'a new password' : `an account as ${each.role}`,
          each.created_by,
          formatMoment(each.expires_at),
          <Withdraw key="withdraw" invitation={each} />,
        ],
      }))}
    />
  )
}

function Withdraw({ invitation }: { invitation: Invitation }) {
  const withdraw = useWithdraw()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={`Withdraw the invitation for ${invitation.name}?`}
      consequence="Its link works no more."
      isPending={withdraw.isPending}
      error={withdraw.error}
      onConfirm={(close) => withdraw.mutate({ params: { path: { invitation_id: invitation.id } } }, { onSuccess: close })}
    >
      Withdraw
    </ConfirmButton>
  )
}
