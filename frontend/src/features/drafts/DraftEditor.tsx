import { Alert, Button, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import type { PlacedProblem } from '@/api/problem'
import { Panel } from '@/ui/Panel'
import { QueryPanel } from '@/ui/QueryPanel'
import { DraftForm } from './DraftForm'
import { editAll, editAt, editList, readDraft } from './document'
import { useKnown, useSchema } from './known'
import { DraftProvider } from './view'
import type { View } from './views'

const YamlEditor = lazy(() => import('./YamlEditor').then(({ YamlEditor }) => ({ default: YamlEditor })))

interface DraftEditorProps {
  text: string
  onChange: (text: string) => void
  problems: readonly PlacedProblem[]
  view: View
  onView: (view: View) => void
}

/** One text in two views. */
export function DraftEditor({ text, onChange, problems, view, onView }: DraftEditorProps) {
  return (
    <Stack gap="md" miw={0}>
      <SegmentedControl
        style={{ alignSelf: 'flex-start' }}
        aria-label="View of the campaign file"
        data={[
          { value: 'form', label: 'Form' },
          { value: 'yaml', label: 'YAML' },
        ]}
        value={view}
        onChange={(next) => onView(next === 'yaml' ? 'yaml' : 'form')}
      />
      {view === 'yaml' ? <AsText {...{ text, onChange, problems }} /> : <AsForm {...{ text, onChange, problems, onView }} />}
    </Stack>
  )
}

type Shown = Pick<DraftEditorProps, 'text' | 'onChange' | 'problems'>

function AsText({ text, onChange, problems }: Shown) {
  const known = useKnown()
  const names = useMemo(() => ({ links: known.links.map(({ name }) => name), controls: known.controls }), [known])
  const schema = useSchema()
  return (
    <Panel title="Campaign file" description="YAML or JSON. Press Ctrl-Space for suggestions.">
      <Suspense fallback={<Skeleton height={420} />}>
        <YamlEditor text={text} onChange={onChange} problems={problems} schema={schema.data ?? null} known={names} />
      </Suspense>
    </Panel>
  )
}

function AsForm({ text, onChange, problems, onView }: Shown & Pick<DraftEditorProps, 'onView'>) {
  const known = useKnown()
  const schema = useSchema()
  const { data, fault } = useMemo(() => readDraft(text), [text])
  if (!data) {
    return (
      <Alert color="yellow" variant="light" title="This text cannot be shown as a form">
        <Text size="sm">
          Line {fault?.line}: {fault?.message}
        </Text>
        <Button size="xs" variant="default" mt="sm" onClick={() => onView('yaml')}>
          Correct it as YAML
        </Button>
      </Alert>
    )
  }
  const view = {
    data,
    known,
    problems,
    edit: (path: Parameters<typeof editAt>[1], value: unknown) => onChange(editAt(text, path, value)),
    editAll: (changes: Parameters<typeof editAll>[1]) => onChange(editAll(text, changes)),
    editList: (path: Parameters<typeof editList>[1], items: readonly unknown[]) => onChange(editList(text, path, items)),
  }
  return (
    <QueryPanel query={schema} skeletonRows={14}>
      {(shape) => (
        <DraftProvider value={{ ...view, schema: shape }}>
          <DraftForm />
        </DraftProvider>
      )}
    </QueryPanel>
  )
}
