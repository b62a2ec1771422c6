import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Sweep, SweptDetector } from '@/api/types'
import { plural } from '@/lib/format'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { versionName } from '../detectors'
import { useCreateSweep, useSweepParameters } from './queries'
import { MAX_SETS, parseValues, setCount } from './values'

interface SweepFormProps {
  campaignId: string
  onDone: (sweep: Sweep) => void
}

/** What to sweep: a detector, and a list of values for some of its parameters. */
export function SweepForm({ campaignId, onDone }: SweepFormProps) {
  const detectors = useSweepParameters(true)
  return (
    <QueryPanel query={detectors} skeletonRows={6}>
      {(data) => <Form campaignId={campaignId} detectors={data} onDone={onDone} />}
    </QueryPanel>
  )
}

const labelOf = ({ detector, version }: SweptDetector) => versionName(detector, version)

function Form({ campaignId, detectors, onDone }: SweepFormProps & { detectors: SweptDetector[] }) {
  const create = useCreateSweep()
  const [chosen, setChosen] = useState(detectors[0] ? labelOf(detectors[0]) : '')
  const [texts, setTexts] = useState<Record<string, string>>({})
  const detector = detectors.find((one) => labelOf(one) === chosen)
  if (!detector) return null
  const filled = detector.parameters.filter(({ name }) => (texts[name] ?? '').trim() !== '')
  const parsed = filled.map((parameter) => [parameter.name, parseValues(texts[parameter.name] ?? '', parameter)] as const)
  const grid = Object.fromEntries(parsed.filter((entry): entry is readonly [string, number[]] => typeof entry[1] !== 'string'))
  const sets = setCount(grid)
  const isReady = filled.length > 0 && Object.keys(grid).length === filled.length && sets <= MAX_SETS
  const submit = () =>
    create.mutate(
      { params: { path: { campaign_id: campaignId } }, body: { detector: detector.detector, version: detector.version, grid } },
      { onSuccess: onDone },
    )
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) submit()
      }}
    >
      <Stack>
        <Select
          label="Detector"
          data={detectors.map(labelOf)}
          value={chosen}
          allowDeselect={false}
          onChange={(value) => {
            setChosen(value ?? '')
            setTexts({})
          }}
        />
        <Text size="sm">Give values for one parameter or more, as “20, 30, 35” or “20..50 by 5”. Empty fields keep the default.</Text>
        {detector.parameters.map((parameter) => (
          <Values
            key={`${chosen} ${parameter.name}`}
            parameter={parameter}
            text={texts[parameter.name] ?? ''}
            onText={(text) => setTexts((old) => ({ ...old, [parameter.name]: text }))}
          />
        ))}
        <Text size="sm" c={sets > MAX_SETS ? 'red' : undefined} role="status">
          {filled.length === 0 ? 'No values yet.' : `${plural(sets, 'parameter set')}, each over every trace that can decide.`}
          {sets > MAX_SETS ? ` At most ${MAX_SETS.toLocaleString('en-GB')}: enter fewer values.` : null}
        </Text>
        {create.error ? <ProblemAlert error={create.error} /> : null}
        <Group justify="flex-end">
          <Button type="submit" disabled={!isReady} loading={create.isPending}>
            Start sweep
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ValuesProps {
  parameter: SweptDetector['parameters'][number]
  text: string
  onText: (text: string) => void
}

function Values({ parameter, text, onText }: ValuesProps) {
  const { name, default: usual, low, high, unit, meaning } = parameter
  const parsed = text.trim() === '' ? null : parseValues(text, parameter)
  return (
    <TextInput
      label={name}
      description={`${meaning}; ${low} to ${high}${unit ? ` ${unit}` : ''}`}
      placeholder={`usually ${usual}`}
      value={text}
      error={typeof parsed === 'string' ? parsed : undefined}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  )
}
