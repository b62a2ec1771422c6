import { Button, Code, CopyButton } from '@mantine/core'
import classes from './ui.module.css'

/** Text to paste elsewhere, with a button that copies it. */
export function CopyCommand({ value, label }: { value: string; label: string }) {
  return (
    <div className={classes.copy}>
      <Code className={classes.copyText} aria-label={label} tabIndex={0}>
        {value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button variant="default" size="xs" onClick={copy} aria-live="polite">
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </div>
  )
}
