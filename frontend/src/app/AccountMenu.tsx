import { Menu, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Session } from '@/api/types'
import { useLogout } from '@/features/session/queries'
import type { MenuTarget } from '@/ui/MenuButton'
import { OpenedMenu } from '@/ui/OpenedMenu'

/** What users can do with their account. */
export function AccountMenu({ session, target }: { session: Session | undefined; target: MenuTarget }) {
  const logout = useLogout()
  return (
    <OpenedMenu target={target} position="bottom-end" width={200} withinPortal={false}>
      <Menu.Dropdown aria-label="Account">
        <Menu.Label>
          <Text size="xs" truncate>
            Signed in as {session?.username}
          </Text>
        </Menu.Label>
        <Menu.Item component={Link} to="/tokens">
          Access
        </Menu.Item>
        {session?.role === 'admin' || session?.role === 'operator' ? (
          <Menu.Item component={Link} to="/notifications">
            Notifications
          </Menu.Item>
        ) : null}
        {session?.role === 'admin' ? (
          <Menu.Item component={Link} to="/people">
            People
          </Menu.Item>
        ) : null}
        <Menu.Item component={Link} to="/storage">
          Storage
        </Menu.Item>
        <Menu.Item component="a" href="/api/v1/docs" target="_blank" rel="noreferrer">
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => logout.mutate({})}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </OpenedMenu>
  )
}
