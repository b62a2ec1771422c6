import { Button, FileButton, Text } from '@mantine/core'
import { type DragEvent, useState } from 'react'
import classes from './imports.module.css'

/** A place to drop files on, with a button that does the same. */
export function DropZone({ onFiles, isDisabled }: { onFiles: (files: File[]) => void; isDisabled: boolean }) {
  const [isOver, setOver] = useState(false)
  const over = (event: DragEvent) => {
    event.preventDefault()
    setOver(!isDisabled)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    if (!isDisabled) onFiles([...event.dataTransfer.files])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button inside does the same by keyboard
    <div className={classes.zone} data-over={isOver || undefined} onDragOver={over} onDragLeave={() => setOver(false)} onDrop={drop}>
      <Text fw={600}>Drop files here</Text>
      <FileButton multiple onChange={onFiles} disabled={isDisabled}>
        {(props) => (
          <Button {...props} variant="light">
            Choose files
          </Button>
        )}
      </FileButton>
      <Text size="sm" c="dimmed" maw={560}>
        iperf3 (-J or --json-stream), ndt7, M-Lab tcp-info, flent, per-ACK CSV, CSV of a trace from Downlink; compressed, in archives (.tgz,
        .tar, .zip), or several reports in one file. The content decides what a file is. One refusal stops the import, and you can import
        the others.
      </Text>
    </div>
  )
}
