import { Button, Group, Stack, Switch, TagsInput, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { CampaignDetail } from '@/api/types'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { useCampaignChoices, useDescribe } from './queries'

const MAX_TAGS = 20

/** Notes and tags, to be changed. */
export function DescriptionForm({ campaign, onDone }: { campaign: CampaignDetail; onDone: () => void }) {
  const [notes, setNotes] = useState(campaign.notes)
  const [tags, setTags] = useState(campaign.tags)
  const [byAddress, setByAddress] = useState(campaign.splits_by_address ?? false)
  const { data } = useCampaignChoices()
  const describe = useDescribe()
  const save = () =>
    describe.mutate(
      { params: { path: { campaign_id: campaign.id } }, body: { notes, tags, splits_by_address: byAddress } },
      { onSuccess: onDone },
    )
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
          description="Press Enter or comma after each. They filter the list of campaigns."
          data={Object.keys(data?.tags ?? {})}
          maxTags={MAX_TAGS}
          value={tags}
          onChange={setTags}
        />
        <Switch
          label="Group runs by the public address that their senders saw"
          description="A carrier’s NAT may change the address on the same path. Turn this on only if another address means another path."
          checked={byAddress}
          onChange={(event) => setByAddress(event.currentTarget.checked)}
        />
        <Text size="sm" c="dimmed">
          The campaign file and all measurements stay unchanged.
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
