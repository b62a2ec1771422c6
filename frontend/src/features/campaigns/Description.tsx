import { Button, Group, Stack, TagsInput, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import type { CampaignDetail } from '@/api/types'
import { Dialog } from '@/ui/Dialog'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { Tag } from '@/ui/Tag'
import classes from './campaigns.module.css'
import { useCampaignChoices, useDescribe } from './queries'

const MAX_TAGS = 20

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
        <Button variant="subtle" size="compact-xs" onClick={open}>
          {campaign.notes || campaign.tags.length > 0 ? 'Edit notes and tags' : 'Add notes or tags'}
        </Button>
      </Group>
      <Dialog opened={isOpen} onClose={close} title="Notes and tags">
        {isOpen ? <Form campaign={campaign} onDone={close} /> : null}
      </Dialog>
    </>
  )
}

function Form({ campaign, onDone }: { campaign: CampaignDetail; onDone: () => void }) {
  const [notes, setNotes] = useState(campaign.notes)
  const [tags, setTags] = useState(campaign.tags)
  const { data } = useCampaignChoices()
  const describe = useDescribe()
  const save = () => describe.mutate({ params: { path: { campaign_id: campaign.id } }, body: { notes, tags } }, { onSuccess: onDone })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <Stack>
        <Textarea
          label="Notes"
          autosize
          minRows={3}
          maxRows={12}
          maxLength={10_000}
          value={notes}
          onChange={(event) => setNotes(event.currentTarget.value)}
          data-autofocus
        />
        <TagsInput
          label="Tags"
          description="Enter or a comma ends one. The list of campaigns can be filtered by them."
          data={Object.keys(data?.tags ?? {})}
          maxTags={MAX_TAGS}
          value={tags}
          onChange={setTags}
        />
        <Text size="sm" c="dimmed">
          The campaign file stays as it is, and so does everything that is measured.
        </Text>
        {describe.error ? <ProblemAlert error={describe.error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Discard
          </Button>
          <Button type="submit" loading={describe.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
