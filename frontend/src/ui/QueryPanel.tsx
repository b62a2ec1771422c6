import { Box, Skeleton, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isUnreachable, problemOf } from '@/api/problem'
import { ProblemAlert } from './ProblemAlert'

interface QueryPanelProps<Data> {
  query: Pick<UseQueryResult<Data, unknown>, 'data' | 'error' | 'isPending' | 'refetch'>
  children: (data: Data) => ReactNode
  /** What to say instead of the content when there is none yet; null or undefined shows the content. */
  empty?: ((data: Data) => ReactNode) | undefined
  /** Problem codes that mean "nothing yet" rather than "wrong", with what to say. */
  emptyCodes?: Record<string, ReactNode> | undefined
  skeletonRows?: number
}

/** The one place that decides between loading, error, empty, stale and content. Content stays visible while it is fetched again. */
export function QueryPanel<Data>({ query, children, empty, emptyCodes, skeletonRows = 4 }: QueryPanelProps<Data>) {
  if (query.data !== undefined) {
    return (
      <>
        {query.error && !isUnreachable(query.error) ? <Stale error={query.error} /> : null}
        {empty?.(query.data) ?? children(query.data)}
      </>
    )
  }
  if (query.isPending) return <Loading rows={skeletonRows} />
  const expected = emptyCodes?.[problemOf(query.error).code]
  if (expected) return expected
  return (
    <Box p="md">
      <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />
    </Box>
  )
}

function Stale({ error }: { error: unknown }) {
  return (
    <Text size="sm" role="status" px="md" py="xs" bg="var(--mantine-color-yellow-light)">
      These are the last known values. {problemOf(error).message}
    </Text>
  )
}

/** In place of what is on its way. */
export function Loading({ rows: count }: { rows: number }) {
  return (
    <Stack gap="sm" p="md" role="status" aria-label="Loading">
      {[...Array(count).keys()].map((row) => (
        <Skeleton key={row} height={18} width={row % 3 === 2 ? '70%' : '100%'} />
      ))}
    </Stack>
  )
}
