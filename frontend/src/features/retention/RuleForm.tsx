import { Button, Checkbox, Group, NumberInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { DataPart, Retention } from '@/api/types'
import { formatBytes, plural } from '@/lib/format'
import { formatMoment } from '@/lib/time'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { usePreview, useSetRetention } from './queries'
import { PARTS } from './words'

const FIELDS = [
  { name: 'traces_days', part: 'traces' },
  { name: 'series_days', part: 'series' },
  { name: 'all_days', part: 'all' },
] as const

type Values = Record<(typeof FIELDS)[number]['name'], number | string> & { is_pinned: boolean }

/** An empty field is null: for good. */
const days = (value: number | string) => (typeof value === 'number' ? value : null)

const bodyOf = (values: Values) => ({
  traces_days: days(values.traces_days),
  series_days: days(values.series_days),
  all_days: days(values.all_days),
  is_pinned: values.is_pinned,
})

/** The rule, and what it would remove before it is saved. */
export function RuleForm({ found, mayDelete }: { found: Retention; mayDelete: boolean }) {
  const preview = usePreview()
  const save = useSetRetention()
  const { traces_days, series_days, all_days, is_pinned } = found
  const form = useForm<Values>({
    initialValues: { traces_days: traces_days ?? '', series_days: series_days ?? '', all_days: all_days ?? '', is_pinned },
  })
  const params = { path: { campaign_id: found.campaign_id } }
  const error = save.error ?? preview.error
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate({ params, body: bodyOf(values) }))}>
      <Group align="flex-end" gap="md">
        {FIELDS.map(({ name, part }) => (
          <NumberInput
            key={name}
            label={PARTS[part].title}
            placeholder="for good"
            suffix=" days"
            min={1}
            max={3650}
            allowDecimal={false}
            w={190}
            disabled={!mayDelete}
            {...form.getInputProps(name)}
          />
        ))}
      </Group>
      <Checkbox
        mt="md"
        label="Pin: nothing is removed, by rule or by hand"
        disabled={!mayDelete}
        {...form.getInputProps('is_pinned', { type: 'checkbox' })}
      />
      <Group mt="md">
        <Button variant="default" loading={preview.isPending} onClick={() => preview.mutate({ params, body: bodyOf(form.values) })}>
          Show what would go
        </Button>
        {mayDelete ? (
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        ) : (
          <Text size="sm" c="dimmed">
            Only its owner and admins change the retention
          </Text>
        )}
      </Group>
      {error ? <ProblemAlert error={error} /> : null}
      {preview.data && !preview.error ? <Foreseen parts={preview.data.parts} /> : null}
    </form>
  )
}

function Foreseen({ parts }: { parts: DataPart[] }) {
  const due = parts.filter(({ due_at }) => due_at)
  return (
    <Text size="sm" mt="md" role="status">
      {due.length === 0
        ? 'This rule would remove nothing.'
        : due
            .map(
              ({ part, runs, bytes, due_at }) =>
                `${formatMoment(due_at)}: ${PARTS[part].title.toLowerCase()}, ${plural(runs, 'run')}, ${formatBytes(bytes)}.`,
            )
            .join(' ')}
    </Text>
  )
}
