import { Button, FileButton, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatRelative } from '@/lib/time'
import { PageHeader } from '@/ui/PageHeader'
import { Panel } from '@/ui/Panel'
import { useNow } from '@/ui/useNow'
import { readDraft } from './document'
import classes from './drafts.module.css'
import { TEMPLATES } from './templates'
import { allUnsaved, forgetUnsaved, isOfSaved } from './unsaved'

/** What a new campaign begins with: a template, a file, or what was typed and not saved. */
export function StartPage({ onFile }: { onFile: (text: string) => void }) {
  const upload = async (file: File | null) => {
    if (file) onFile(await file.text())
  }
  return (
    <>
      <PageHeader
        trail={<Link to="/campaigns">Campaigns</Link>}
        title="New campaign"
        description="Choose a research question. Everything can be changed afterwards."
        actions={
          <Group gap="xs">
            <FileButton accept=".yaml,.yml,.json,text/yaml,application/json" onChange={upload}>
              {(props) => (
                <Button {...props} variant="default">
                  Upload a file
                </Button>
              )}
            </FileButton>
            <Button variant="default" renderRoot={(props) => <Link to="/campaigns/new" search={{ start: 'example' }} {...props} />}>
              A short example
            </Button>
          </Group>
        }
      />
      <Stack gap="lg">
        <UnsavedTexts />
        <ul className={classes.templates} aria-label="Templates">
          {TEMPLATES.map((template) => (
            <li key={template.key}>
              <Link to="/campaigns/new" search={{ start: template.key }} className={classes.template}>
                <Text fw={600}>{template.title}</Text>
                <Text size="sm">{template.answers}</Text>
                <Text size="xs" c="dimmed">
                  {template.figure}
                </Text>
              </Link>
            </li>
          ))}
        </ul>
      </Stack>
    </>
  )
}

function UnsavedTexts() {
  const now_ms = useNow()
  const [texts, setTexts] = useState(() => allUnsaved().filter(({ key }) => !isOfSaved(key)))
  if (texts.length === 0) return null
  const discard = (key: string) => {
    forgetUnsaved(key)
    setTexts(texts.filter((one) => one.key !== key))
  }
  return (
    <Panel title="Not saved yet" description="Typed in this browser.">
      <Stack gap="xs">
        {texts.map(({ key, text, at }) => (
          <Group key={key} gap="sm">
            <Link to="/campaigns/new" search={{ start: key }}>
              {String(readDraft(text).data?.name || 'Without a name')}
            </Link>
            <Text size="sm" c="dimmed">
              {formatRelative(at, now_ms)}
            </Text>
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              onClick={() => discard(key)}
              aria-label={`Discard ${readDraft(text).data?.name || key}`}
            >
              Discard
            </Button>
          </Group>
        ))}
      </Stack>
    </Panel>
  )
}
