import { Anchor, Group, Text } from '@mantine/core'
import { API } from '@/api/client'

const PROCESSORS = [
  ['amd64', 'x86-64'],
  ['arm64', 'arm64'],
] as const

/** The agent's program that this server carries, for each processor, with its checksum beside it. */
export function Programs() {
  return (
    <Group gap="md">
      {PROCESSORS.map(([arch, title]) => (
        <Text key={arch} size="sm" span>
          <Anchor href={`${API}/agents/binaries/${arch}`} size="sm" underline="always">
            Linux {title}
          </Anchor>{' '}
          (
          <Anchor href={`${API}/agents/binaries/${arch}.sha256`} size="sm" underline="always" aria-label={`SHA-256 of Linux ${title}`}>
            SHA-256
          </Anchor>
          )
        </Text>
      ))}
    </Group>
  )
}
