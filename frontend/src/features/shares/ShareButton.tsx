import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { LateDialog } from '@/ui/LateDialog'
import { LazyPart } from '@/ui/LazyPart'

const loadLinks = () => import('./SharedLinks').then(({ SharedLinks }) => SharedLinks)

/** Opens the links that let people without an account read this campaign. */
export function ShareButton({ campaignId }: { campaignId: string }) {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button variant="default" onClick={open}>
        Share
      </Button>
      <LateDialog opened={isOpen} onClose={close} title="Share this campaign" size="xl">
        {isOpen ? <LazyPart load={loadLinks} props={{ campaignId }} /> : null}
      </LateDialog>
    </>
  )
}
