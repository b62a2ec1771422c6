import { Button, Group, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { API, api } from '@/api/client'
import type { Annotation, AnnotationBody, CampaignDay, CampaignDetail } from '@/api/types'
import { momentText, secondsOf } from '@/charts/clock'
import { Allowed } from '@/ui/Allowed'
import { ConfirmButton } from '@/ui/ConfirmButton'
import { Dialog } from '@/ui/Dialog'
import { Empty } from '@/ui/Empty'
import { Panel } from '@/ui/Panel'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { StackedTable } from '@/ui/StackedTable'

const OF_KIND: Record<AnnotationBody['kind'], true> = { weather: true, maintenance: true, note: true }
const KINDS = Object.keys(OF_KIND)
const MOST_WORDS = 500

/** The whole campaign, or a link in every campaign over it. */
const CAMPAIGN = 'This campaign'

function useRefreshing() {
  const cache = useQueryClient()
  return { onSuccess: () => cache.invalidateQueries({ queryKey: ['get', `${API}/campaigns/{campaign_id}/day`] }) }
}

/** What happened in the time of a strip, by the numbers that stand above it; and a form to note more. */
export function AnnotationsPanel({ day, campaign }: { day: CampaignDay; campaign: CampaignDetail }) {
  const [isOpen, { open, close }] = useDisclosure(false)
  const add = (
    <Allowed verb="annotate">
      <Button size="compact-sm" variant="default" onClick={open}>
        Add annotation
      </Button>
    </Allowed>
  )
  return (
    <Panel
      title="Annotations"
      description="Events by clock time, numbered as above the strip."
      isFlush
      actions={day.annotations.length > 0 ? add : undefined}
    >
      {day.annotations.length === 0 ? (
        <Empty title="Nothing is noted" action={add}>
          Rain at the dish, a change at the gateway, a busy host: add a note, and the strip and its figures show it.
        </Empty>
      ) : (
        <StackedTable
          label="Annotations"
          heads={['What', 'UTC', 'Of', '']}
          whole={['What', 'UTC']}
          rows={day.annotations.map((one, index) => ({
            key: one.id,
            cells: [
              <What key="what" annotation={one} number={index + 1} />,
              <When key="when" annotation={one} isDrawn={isWithin(one, day)} />,
              one.link ?? 'campaign',
              <Delete key="delete" annotation={one} number={index + 1} />,
            ],
          }))}
        />
      )}
      <Dialog opened={isOpen} onClose={close} title="Add an annotation">
        {isOpen ? <AnnotationForm day={day} campaign={campaign} onDone={close} /> : null}
      </Dialog>
    </Panel>
  )
}

/** Whether it touches the time of the runs: the others are listed and not drawn. */
function isWithin({ from_at, to_at }: Annotation, day: CampaignDay): boolean {
  if (!day.from_at || !day.to_at) return false
  return Date.parse(from_at) <= Date.parse(day.to_at) && Date.parse(to_at ?? from_at) >= Date.parse(day.from_at)
}

function What({ annotation: { text, kind }, number }: { annotation: Annotation; number: number }) {
  return (
    <>
      <strong>{number}</strong> {text}
      {kind === 'note' ? null : <Aside>{kind}</Aside>}
    </>
  )
}

function When({ annotation: { from_at, to_at }, isDrawn }: { annotation: Annotation; isDrawn: boolean }) {
  return (
    <>
      {momentText(secondsOf(from_at))}
      {to_at ? ` to ${momentText(secondsOf(to_at))}` : ''}
      {isDrawn ? null : <Aside>not in the time of the runs</Aside>}
    </>
  )
}

function Aside({ children }: { children: string }) {
  return (
    <Text span size="xs" c="dimmed">
      {' '}
      {children}
    </Text>
  )
}

function Delete({ annotation, number }: { annotation: Annotation; number: number }) {
  const remove = api.useMutation('delete', `${API}/annotations/{annotation_id}`, useRefreshing())
  const { id, link, campaign_id } = annotation
  return (
    <Allowed verb="annotate">
      <ConfirmButton
        size="compact-sm"
        variant="subtle"
        color="gray"
        aria-label={`Delete annotation ${number}`}
        question={`Delete annotation ${number}?`}
        consequence={campaign_id ? 'It is removed from this campaign.' : `It is removed from every campaign over ${link}.`}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={(done) => remove.mutate({ params: { path: { annotation_id: id } } }, { onSuccess: done })}
      >
        Delete
      </ConfirmButton>
    </Allowed>
  )
}

interface FormProps {
  day: CampaignDay
  campaign: CampaignDetail
  onDone: () => void
}

/** The first whole minute of the strip, where it has one: an annotation there is drawn. */
function firstMinute({ from_at, to_at }: CampaignDay): string {
  if (!from_at) return ''
  const minute = new Date(Math.ceil(Date.parse(from_at) / 60_000) * 60_000).toISOString()
  return (to_at && Date.parse(minute) > Date.parse(to_at) ? from_at : minute).slice(0, 16)
}

/** Fields of a browser's own moments are read as UTC, as all times of these pages. */
function AnnotationForm({ day, campaign, onDone }: FormProps) {
  const create = api.useMutation('post', `${API}/annotations`, useRefreshing())
  const [values, setValues] = useState({ text: '', kind: 'weather', of: CAMPAIGN, from: firstMinute(day), to: '' })
  const put = (key: keyof typeof values) => (value: string | null) => setValues((old) => ({ ...old, [key]: value ?? old[key] }))
  const fault = faultOf(values)
  const send = () =>
    create.mutate(
      {
        body: {
          campaign_id: values.of === CAMPAIGN ? campaign.id : null,
          link: values.of === CAMPAIGN ? null : linkOf(values.of),
          kind: values.kind as AnnotationBody['kind'],
          text: values.text.trim(),
          from_at: `${values.from}:00Z`,
          to_at: values.to ? `${values.to}:00Z` : null,
        },
      },
      { onSuccess: onDone },
    )
  return (
    <Stack>
      <Textarea
        label="What happened"
        autosize
        minRows={2}
        maxLength={MOST_WORDS}
        value={values.text}
        onChange={(event) => put('text')(event.currentTarget.value)}
        data-autofocus
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select label="Kind" data={KINDS} value={values.kind} allowDeselect={false} onChange={put('kind')} />
        <Select
          label="Of"
          data={[CAMPAIGN, ...campaign.links.map(linkText)]}
          value={values.of}
          allowDeselect={false}
          onChange={put('of')}
        />
        <TextInput
          type="datetime-local"
          label="From, UTC"
          value={values.from}
          onChange={(event) => put('from')(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label="To, UTC"
          description="Empty for a moment"
          inputWrapperOrder={['label', 'input', 'description']}
          value={values.to}
          onChange={(event) => put('to')(event.currentTarget.value)}
        />
      </SimpleGrid>
      {create.error ? <ProblemAlert error={create.error} /> : null}
      <Group justify="flex-end">
        {fault ? (
          <Text size="sm" c="dimmed" mr="auto">
            {fault}
          </Text>
        ) : null}
        <Button variant="default" onClick={onDone}>
          Close
        </Button>
        <Button onClick={send} disabled={fault !== null} loading={create.isPending}>
          Save annotation
        </Button>
      </Group>
    </Stack>
  )
}

const linkText = (link: string) => `Link ${link}, every campaign`
const linkOf = (text: string) => text.replace(/^Link (.*), every campaign$/, '$1')

function faultOf({ text, from, to }: { text: string; from: string; to: string }): string | null {
  if (!text.trim()) return 'Say what happened.'
  if (!from) return 'Say when it began.'
  return to && to < from ? 'It ends before it begins.' : null
}
