import { Button, type ButtonProps, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { LateDialog } from './LateDialog'
import { ProblemAlert } from './ProblemAlert'

interface ConfirmButtonProps extends ButtonProps {
  /** The verb, on the button and, unless `confirm` names more, on the confirmation. */
  children: string
  /** Two answers that no reader confuses, where the verb alone could mean closing the dialog. */
  confirm?: string
  keep?: string
  question: string
  consequence: ReactNode
  /** It costs something and takes nothing away: the confirmation is not red. */
  isHarmless?: boolean
  isPending?: boolean
  error?: unknown
  onConfirm: (close: () => void) => void
  'aria-label'?: string
}

/** A button for what cannot be taken back, or costs: it says what will happen, then asks. */
export function ConfirmButton({
  children,
  confirm = children,
  keep,
  question,
  consequence,
  isHarmless = false,
  isPending,
  error,
  onConfirm,
  ...button
}: ConfirmButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button {...button} onClick={open}>
        {children}
      </Button>
      <LateDialog opened={isOpen} onClose={close} title={question}>
        <Text size="sm" component="div">
          {consequence}
        </Text>
        {error ? <ProblemAlert error={error} /> : null}
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={close} data-autofocus>
            {keep ?? (isHarmless ? 'Not now' : 'Keep')}
          </Button>
          {/* White on a lighter red misses 4.5:1. */}
          <Button {...(isHarmless ? {} : { color: 'red.9' })} loading={isPending ?? false} onClick={() => onConfirm(close)}>
            {confirm}
          </Button>
        </Group>
      </LateDialog>
    </>
  )
}
