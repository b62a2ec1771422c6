import { Group, Modal, type ModalProps } from '@mantine/core'

type DialogProps = Pick<ModalProps, 'opened' | 'onClose' | 'size' | 'children'> & { title: string }

/** A modal dialog. Its head is no `header` element: that would be a second banner landmark. */
export function Dialog({ title, children, ...modal }: DialogProps) {
  return (
    <Modal.Root centered {...modal}>
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
