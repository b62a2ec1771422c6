import { Box } from '@mantine/core'
import { Component, type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react'
import { whileWaiting } from '@/api/waiting'
import { ProblemAlert } from './ProblemAlert'
import { Loading } from './QueryPanel'

/** A moment for a link that lost a packet too many. */
const AGAIN_MS = 1000

const PART_MISSING = {
  code: 'files_missing',
  message:
    'This part of the page could not be loaded: the connection was lost, or the server has a newer version of the dashboard. Try again; if that does not help, reload the page.',
  details: {},
}

/** Load it; once more after a moment where that fails. */
export async function loadTwice<Loaded>(load: () => Promise<Loaded>, wait_ms = AGAIN_MS): Promise<Loaded> {
  try {
    return await whileWaiting(load)
  } catch {
    await new Promise((resolve) => setTimeout(resolve, wait_ms))
    return whileWaiting(load)
  }
}

const begin = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => ({ default: (await loadTwice(load)) as ComponentType<object> }))

interface LazyPartProps<Props extends object> {
  load: () => Promise<ComponentType<Props>>
  props: Props
  /** Shown until it is loaded; a few grey lines where none is given. */
  waiting?: ReactNode
}

/** A part of a page whose script is loaded when it is first shown. When its file does not come, its place shows that. */
export function LazyPart<Props extends object>({ load, props, waiting = <Loading rows={8} /> }: LazyPartProps<Props>) {
  const [Loaded, setLoaded] = useState(() => begin(load))
  const [tries, setTries] = useState(0)
  const retry = () => {
    setLoaded(() => begin(load))
    setTries(tries + 1)
  }
  return (
    <Boundary key={tries} fallback={<Missing onRetry={retry} />}>
      <Suspense fallback={waiting}>
        <Loaded {...props} />
      </Suspense>
    </Boundary>
  )
}

function Missing({ onRetry }: { onRetry: () => void }) {
  return (
    <Box p="md">
      <ProblemAlert error={PART_MISSING} onRetry={onRetry} />
    </Box>
  )
}

/** Faults of the part itself go on to the page; files that do not come stay here. */
class Boundary extends Component<{ fallback: ReactNode; children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    if (isLostFile(error)) return this.props.fallback
    throw error
  }
}

/** Browsers and vite each have their own words for a file of the page that does not come. */
export function isLostFile(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|preload CSS|module script failed/i.test(error.message)
}
