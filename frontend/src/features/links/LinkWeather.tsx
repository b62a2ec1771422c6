import { Button, type ButtonProps, FileButton, Group, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import type { Link } from '@/api/types'
import { secondsOf } from '@/charts/clock'
import { QuantityStrip } from '@/charts/QuantityStrip'
import { plural } from '@/lib/format'
import { binsOf, quantityTitle } from '@/lib/quantityOfLink'
import { Allowed } from '@/ui/Allowed'
import { Dialog } from '@/ui/Dialog'
import { Empty } from '@/ui/Empty'
import { ProblemAlert } from '@/ui/ProblemAlert'
import { QueryPanel } from '@/ui/QueryPanel'
import { useImportStation, useLinkQuantities, useLinkStrips, useWeather } from './queries'
import { serviceText } from './weather'

/** What is known of a link over time, and the door for a weather station's file. */
export function LinkWeather({ link, ...button }: { link: Link; 'aria-label'?: string } & ButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button {...button} onClick={open}>
        Weather
      </Button>
      <Dialog opened={isOpen} onClose={close} title={`Dish and weather of ${link.name}`} size="lg">
        {isOpen ? <Inside link={link} /> : null}
      </Dialog>
    </>
  )
}

function Inside({ link }: { link: Link }) {
  const known = useLinkQuantities(link.id)
  const last = known.data?.items
    .map(({ last_at }) => last_at)
    .sort()
    .at(-1)
  return (
    <Stack gap="md">
      <QueryPanel query={known} empty={({ items }) => (items.length === 0 ? <Nothing /> : null)}>
        {() => (last ? <LastDay link={link} to_at={last} /> : null)}
      </QueryPanel>
      <Service link={link} />
      <Allowed verb="change_link" owner={link.owner_id}>
        <StationForm link={link} />
      </Allowed>
    </Stack>
  )
}

/** What came of asking the server's weather service for this link, where it asks one. */
function Service({ link }: { link: Link }) {
  const { data } = useWeather()
  const said = data ? serviceText(data, link) : null
  return said ? (
    <Text size="sm" {...(said.isProblem ? { c: 'red', role: 'alert' } : { c: 'dimmed' })}>
      {said.text}
    </Text>
  ) : null
}

function Nothing() {
  return (
    <Empty title="Nothing is known yet">
      Name the dish in the configuration of the agent behind it (observe), or import the CSV of a weather station here.
    </Empty>
  )
}

const DAY_S = 86_400

/** The day before the last value. */
function LastDay({ link, to_at }: { link: Link; to_at: string }) {
  const strips = useLinkStrips(link.id, to_at)
  const to_s = secondsOf(to_at)
  return (
    <QueryPanel query={strips}>
      {({ items }) =>
        items.map((strip) => (
          <QuantityStrip
            key={`${strip.quantity} ${strip.source}`}
            title={quantityTitle(strip.quantity)}
            unit={strip.unit}
            note={strip.source}
            bins={binsOf(strip)}
            from_s={to_s - DAY_S}
            to_s={to_s}
          />
        ))
      }
    </QueryPanel>
  )
}

function StationForm({ link }: { link: Link }) {
  const [source, setSource] = useState('station')
  const send = useImportStation()
  const take = async (file: File | null) => {
    if (file)
      send.mutate({
        params: { path: { link_id: link.id } },
        body: { text: await file.text(), source, columns: {}, time_zone: null, strict: false },
      })
  }
  return (
    <Stack gap="xs">
      <Group align="end" gap="sm">
        <TextInput label="Whose values" value={source} maxLength={60} onChange={(event) => setSource(event.currentTarget.value)} />
        <FileButton accept=".csv,.txt,text/csv,text/plain" onChange={(file) => void take(file)}>
          {(props) => (
            <Button {...props} variant="default" loading={send.isPending} disabled={source === ''}>
              Import a station’s CSV
            </Button>
          )}
        </FileButton>
      </Group>
      <Text size="sm" c="dimmed">
        The first line names the columns: “time”, and quantities such as weather.rain_mm_per_h. Times without an offset are in the link’s
        time zone. For other names and for files above 900 kB there is the command <code>downlink weather import</code>.
      </Text>
      {send.data ? (
        <Text size="sm" role="status">
          {plural(send.data.values, 'value')}, {send.data.stored} of them new.
          {send.data.differing > 0 ? ` ${send.data.differing} differ from the stored values, which stay.` : ''}
          {send.data.partial?.length ? ` Left out: ${send.data.partial.join('; ')}.` : ''}
        </Text>
      ) : null}
      {send.error ? <ProblemAlert error={send.error} /> : null}
    </Stack>
  )
}
