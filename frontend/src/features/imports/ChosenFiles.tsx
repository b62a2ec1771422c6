import { Alert, Button, CloseButton } from '@mantine/core'
import { formatBytes, plural } from '@/lib/format'
import classes from './imports.module.css'
import type { Refusal } from './refusals'

interface ChosenFilesProps {
  files: File[]
  refused: readonly Refusal[]
  onChange: (files: File[]) => void
  isDisabled: boolean
}

/** What will be sent, and after a refusal why not. */
export function ChosenFiles({ files, refused, onChange, isDisabled }: ChosenFilesProps) {
  if (files.length === 0) return null
  const reasonOf = (file: File) => refused.find((one) => one.file === file.name)?.reason
  return (
    <>
      {refused.length > 0 ? (
        <Alert color="red" variant="light" role="alert" title={`${plural(refused.length, 'file')} refused, nothing was imported`}>
          <Button size="xs" variant="default" onClick={() => onChange(files.filter((file) => !reasonOf(file)))}>
            {refused.length === 1 ? 'Leave it out' : 'Leave them out'}
          </Button>
        </Alert>
      ) : null}
      <ul className={classes.files} aria-label="Chosen files">
        {files.map((file) => {
          const reason = reasonOf(file)
          return (
            <li key={`${file.name} ${file.size} ${file.lastModified}`} data-refused={reason !== undefined || undefined}>
              <span className={classes.name}>
                {reason ? '✕ ' : ''}
                {file.name}
              </span>
              <span className={classes.size}>{formatBytes(file.size)}</span>
              <CloseButton
                size="sm"
                aria-label={`Leave out ${file.name}`}
                disabled={isDisabled}
                onClick={() => onChange(files.filter((one) => one !== file))}
              />
              {reason ? <span className={classes.reason}>{reason}</span> : null}
            </li>
          )
        })}
      </ul>
    </>
  )
}
