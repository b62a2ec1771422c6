import { Anchor, Group, Stack, Text } from '@mantine/core'
import { API } from '@/api/client'
import { QueryPanel } from '@/ui/QueryPanel'
import { usePrograms } from './queries'

const TITLES = { amd64: 'Linux x86-64', arm64: 'Linux arm64' } as const

/** The agent's programs that this server carries, each with its checksum beside it, and how to get the others. */
export function Programs() {
  return (
    <QueryPanel query={usePrograms()} skeletonRows={1}>
      {({ items, how }) => (
        <Stack gap={4}>
          <Group gap="md">{items.map(({ arch, is_here }) => (is_here ? <Program key={arch} arch={arch} /> : null))}</Group>
          {how ? (
            <Text size="sm" c="dimmed">
              Not on this server: {missing(items)}. {how}
            </Text>
          ) : null}
        </Stack>
      )}
    </QueryPanel>
  )
}

const missing = (items: { arch: keyof typeof TITLES; is_here: boolean }[]) =>
  items
    .filter(({ is_here }) => !is_here)
    .map(({ arch }) => TITLES[arch])
    .join(', ')

function Program({ arch }: { arch: keyof typeof TITLES }) {
  const title = TITLES[arch]
  return (
    <Text size="sm" span>
      <Anchor href={`${API}/agents/binaries/${arch}`} size="sm" underline="always">
        {title}
      </Anchor>{' '}
      (
      <Anchor href={`${API}/agents/binaries/${arch}.sha256`} size="sm" underline="always" aria-label={`SHA-256 of ${title}`}>
        SHA-256
      </Anchor>
      )
    </Text>
  )
}
