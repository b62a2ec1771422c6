import { Anchor, Burger, Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { sessionQuery } from '@/api/session'
import { MenuButton } from '@/ui/MenuButton'
import { ColorSchemeButton } from './ColorSchemeButton'
import { LiveSync } from './LiveSync'
import { Mark } from './Mark'
import classes from './shell.module.css'

const PLACES = [
  { to: '/campaigns', label: 'Campaigns' },
  { to: '/calendar', label: 'Calendar' },
  { to: '/compare', label: 'Compare' },
  { to: '/reproduction', label: 'Reproduction' },
  { to: '/agents', label: 'Agents' },
  { to: '/links', label: 'Links' },
  { to: '/paths', label: 'Paths' },
] as const

/** The frame of every page behind the sign-in: where one is, where one can go, who one is. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const pathname = useRouterState({ select: (state) => state.location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu
  useEffect(close, [pathname])
  return (
    <>
      <Anchor href="#content" className={classes.skip}>
        Skip to content
      </Anchor>
      <header className={classes.header}>
        <div className={classes.bar}>
          <Link to="/campaigns" className={classes.brand} aria-label="Downlink, to the campaigns">
            <Mark />
            Downlink
          </Link>
          <nav className={classes.nav} data-open={isOpen || undefined} aria-label="Main" id="main-navigation">
            {PLACES.map((place) => (
              <Link key={place.to} to={place.to} className={classes.place}>
                {place.label}
              </Link>
            ))}
          </nav>
          <Group gap={4} ml="auto" wrap="nowrap">
            <ColorSchemeButton />
            <Account />
            <Burger
              hiddenFrom="md"
              size="sm"
              opened={isOpen}
              onClick={toggle}
              aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
              aria-expanded={isOpen}
              aria-controls="main-navigation"
            />
          </Group>
        </div>
      </header>
      <LiveSync />
      <main id="content" className={classes.content} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  )
}

const loadAccountMenu = () => import('./AccountMenu').then(({ AccountMenu }) => AccountMenu)

function Account() {
  const { data: session } = useQuery(sessionQuery)
  const button = (
    <Button variant="subtle" color="gray" size="compact-sm" px={8} className={classes.account}>
      {session?.username ?? 'Account'}
    </Button>
  )
  return <MenuButton target={button} load={loadAccountMenu} props={{ session: session ?? undefined }} />
}
