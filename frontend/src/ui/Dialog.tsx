import { Group, Modal, type ModalProps } from '@mantine/core'
import { useEffect, useState } from 'react'

export type DialogProps = Pick<ModalProps, 'opened' | 'onClose' | 'size' | 'children'> & { title: string }

/** A modal dialog. Its head is no `header` element: that would be a second banner landmark. */
export function Dialog({ title, opened, children, ...modal }: DialogProps) {
  // A dialog notes where the focus comes back to when it opens, not when it is there: one that was loaded to be opened opens next.
  const [isThere, setThere] = useState(false)
  useEffect(() => setThere(true), [])
  return (
    <Modal.Root centered opened={opened && isThere} {...modal}>
      <Modal.Overlay />
      <Modal.Content>
        <Group justify="space-between" wrap="nowrap" p="md" pb="xs">
          <Modal.Title fw={620}>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </Group>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
