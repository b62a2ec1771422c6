import type { Run } from '@/api/types'
import { Facts } from '@/ui/Facts'
import { Panel } from '@/ui/Panel'

/** The file that an imported run was made of. */
export function SourcePanel({ source }: { source: NonNullable<Run['import_source']> }) {
  return (
    <Panel title="Imported from a file">
      <Facts
        items={[
          ['File', source.file],
          ['Kind', source.source],
          ['SHA-256', <code key="hash">{source.sha256}</code>],
        ]}
      />
    </Panel>
  )
}
