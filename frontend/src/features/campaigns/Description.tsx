import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { CampaignDetail } from '@/api/types'
import { Allowed } from '@/ui/Allowed'
import { LateDialog } from '@/ui/LateDialog'
import { LazyPart } from '@/ui/LazyPart'
import { Tag } from '@/ui/Tag'
import classes from './campaigns.module.css'

const loadForm = () => import('./DescriptionForm').then(({ DescriptionForm }) => DescriptionForm)

/** What people say of a campaign, and a way to say something else, in whatever state it is. */
export function Description({ campaign }: { campaign: CampaignDetail }) {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      {campaign.notes ? <div className={classes.notes}>{campaign.notes}</div> : null}
      <Group gap={6} mt={4}>
        {campaign.tags.map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
        <Allowed verb="describe_campaign" owner={campaign.owner_id}>
          <Button variant="subtle" size="compact-xs" onClick={open}>
            {campaign.notes || campaign.tags.length > 0 ? 'Edit notes and tags' : 'Add notes or tags'}
          </Button>
        </Allowed>
      </Group>
      <LateDialog opened={isOpen} onClose={close} title="Notes and tags">
        {isOpen ? <LazyPart load={loadForm} props={{ campaign, onDone: close }} /> : null}
      </LateDialog>
    </>
  )
}
