import { Button, Container } from '@mantine/core'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { isProblem } from '@/api/problem'
import { isLostFile } from '@/ui/LazyPart'
import { PageHeader } from '@/ui/PageHeader'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { reloadIfThere } from './lostFiles'

/** Outside the shell: a whole page of its own. */
export function BarePageError(props: ErrorComponentProps) {
  return (
    <main>
      <PageError {...props} />
    </main>
  )
}

/** The last resort of a page: an unreachable server, or a fault of the page itself. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  if (isLostFile(error)) return <FilesMissing />
  const isFromServer = isProblem(error) || (error instanceof TypeError && /fetch/i.test(error.message))
  const shown = isFromServer ? error : pageFailed(error)
  return (
    <Container size="sm" py="xl">
      <ProblemAlert error={shown} onRetry={retry} />
    </Container>
  )
}

function FilesMissing() {
  const [isAway, setAway] = useState(false)
  const problem = {
    code: 'files_missing',
    message: `A file of this page cannot be loaded. ${isAway ? 'The server does not answer yet' : WHY_MISSING}. Trying again reloads the page.`,
    details: {},
  }
  return (
    <Container size="sm" py="xl">
      <ProblemAlert error={problem} onRetry={() => void reloadIfThere().then((isThere) => setAway(!isThere))} />
    </Container>
  )
}

const WHY_MISSING = 'The server may have a newer version of the dashboard, or cannot be reached'

function pageFailed(error: unknown) {
  const what = error instanceof Error ? error.message : String(error)
  return {
    code: 'page_failed',
    message: `This page failed to draw (${what}). Reload it; if that does not help, the data is still in the CSV downloads.`,
    details: {},
  }
}

export function NotFound() {
  return (
    <Container size="sm" py="xl" component="main">
      <PageHeader title="There is no page at this address" description="The link may be old, or the campaign may have been deleted." />
      <Button component={Link} to="/campaigns">
        To the campaigns
      </Button>
    </Container>
  )
}
