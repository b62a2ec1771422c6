import { Stack } from '@mantine/core'
import { PageHeader } from '@/ui/PageHeader'
import { AccountsPanel } from './AccountsPanel'
import { AuditPanel } from './AuditPanel'
import { InvitationsPanel } from './InvitationsPanel'

/** Who has an account, who is invited, and what changed. For admins. */
export function PeoplePage() {
  return (
    <>
      <PageHeader
        title="People"
        description="Accounts and what they may do, invitations, and the record of every change to them. Campaigns and links belong to the people who created them: operators change their own, admins all."
      />
      <Stack gap="lg">
        <InvitationsPanel />
        <AccountsPanel />
        <AuditPanel />
      </Stack>
    </>
  )
}
