import { Button, Group, NumberInput, Select, Stack, Text } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import type { ReadyPath } from '@/api/types'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { useMakePath, useReadyPaths } from './queries'
import { placeName } from './words'

const MOST_HOURS = 24
const LEAST_HOURS = 0.01

/** One of the ready-made paths, of some length. Its page opens and shows how far it is. */
export function MakePath({ onClose }: { onClose: () => void }) {
  const ready = useReadyPaths()
  return <QueryPanel query={ready}>{(choices) => <Form choices={choices} onClose={onClose} />}</QueryPanel>
}

function Form({ choices, onClose }: { choices: ReadyPath[]; onClose: () => void }) {
  const router = useRouter()
  const make = useMakePath()
  const [name, setName] = useState(choices[0]?.name ?? '')
  const [hours, setHours] = useState<number | string>(MOST_HOURS)
  const chosen = choices.find((one) => one.name === name)
  const length = typeof hours === 'number' && hours >= LEAST_HOURS && hours <= MOST_HOURS ? hours : null
  const begin = () => {
    if (length === null) return
    make.mutate(
      { body: { ready: name, hours: length } },
      { onSuccess: ({ id }) => void router.navigate({ to: '/paths/$pathId', params: { pathId: id }, search: {} }) },
    )
  }
  return (
    <Stack gap="sm">
      <Select
        label="Path"
        data={choices.map((one) => ({ value: one.name, label: one.name }))}
        value={name}
        allowDeselect={false}
        onChange={(next) => next && setName(next)}
        data-autofocus
      />
      {chosen ? (
        <Text size="sm" c="dimmed">
          {chosen.stations.map(placeName).join(' to ')}, {chosen.what}. Satellites are used from {chosen.least_elevation_deg}° above the
          horizon. Constellation {chosen.constellation}.
        </Text>
      ) : null}
      <NumberInput
        label="Length"
        description="24 hours take a minute or two to compute"
        suffix=" h"
        value={hours}
        min={LEAST_HOURS}
        max={MOST_HOURS}
        step={1}
        clampBehavior="none"
        error={length === null ? `Between ${LEAST_HOURS} and ${MOST_HOURS} hours` : undefined}
        onChange={setHours}
      />
      {make.error ? <ProblemAlert error={make.error} /> : null}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button onClick={begin} loading={make.isPending} disabled={length === null}>
          Make path
        </Button>
      </Group>
    </Stack>
  )
}
