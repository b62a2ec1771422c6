import { Alert, Button, CloseButton } from '@mantine/core'
import { formatBytes, plural } from '@/lib/format'
import classes from './imports.module.css'
import { hasOthers, type Refusal, refusalsWithin } from './refusals'

interface ChosenFilesProps {
  files: File[]
  refused: readonly Refusal[]
  onChange: (files: File[]) => void
  /** Import again, without what is refused. */
  onSkip: () => void
  isDisabled: boolean
}

/** What will be sent, and after a refusal why not. */
export function ChosenFiles({ files, refused, onChange, onSkip, isDisabled }: ChosenFilesProps) {
  if (files.length === 0) return null
  return (
    <>
      {refused.length > 0 ? (
        <Alert color="red" variant="light" role="alert" title={`${plural(refused.length, 'file')} refused, nothing was imported`}>
          {hasOthers(files, refused) ? (
            <Button size="xs" variant="default" onClick={onSkip} disabled={isDisabled}>
              Import the others
            </Button>
          ) : null}
        </Alert>
      ) : null}
      <ul className={classes.files} aria-label="Chosen files">
        {files.map((file) => (
          <ChosenFile
            key={`${file.name} ${file.size} ${file.lastModified}`}
            file={file}
            refused={refusalsWithin(file, refused)}
            onRemove={() => onChange(files.filter((one) => one !== file))}
            isDisabled={isDisabled}
          />
        ))}
      </ul>
    </>
  )
}

interface ChosenFileProps {
  file: File
  refused: readonly Refusal[]
  onRemove: () => void
  isDisabled: boolean
}

/** A file with the reasons of its refusal; an archive or a log may hold several refused tests. */
function ChosenFile({ file, refused, onRemove, isDisabled }: ChosenFileProps) {
  const isRefused = refused.length > 0
  return (
    <li data-refused={isRefused || undefined}>
      <span className={classes.name}>
        {isRefused ? '✕ ' : ''}
        {file.name}
      </span>
      <span className={classes.size}>{formatBytes(file.size)}</span>
      <CloseButton size="sm" aria-label={`Leave out ${file.name}`} disabled={isDisabled} onClick={onRemove} />
      {refused.map((one) => (
        <span key={one.file} className={classes.reason}>
          {one.file === file.name ? one.reason : `${one.file}: ${one.reason}`}
        </span>
      ))}
    </li>
  )
}
