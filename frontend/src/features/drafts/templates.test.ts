import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Link } from '@/api/types'
import { readDraft } from './document'
import { fitted, loadTemplate, TEMPLATES } from './templates'

const link = (name: string, orbit: Link['orbit'], senders = 1) =>
  ({ name, orbit, senders: Array.from({ length: senders }, (_, index) => `server-${index}`) }) as Link

it.each(TEMPLATES)('$title is a file that the server’s tests know, and says what it answers', async (template) => {
  expect(existsSync(`../docs/examples/${template.file}`)).toBe(true)
  expect(template.answers).toMatch(/^[A-Z].*[?.]$/)
  const data = readDraft(await loadTemplate(template, [])).data
  expect(data?.name).toBe(template.title)
  expect(data?.links).toHaveLength(template.orbits.length)
})

it('a template is opened over links that there are, with its comments', async () => {
  const [template] = TEMPLATES
  if (!template) throw new Error('no template')
  const text = await loadTemplate(template, [link('leo', 'LEO'), link('dish', 'GEO')])
  expect(readDraft(text).data?.links).toEqual(['dish'])
  expect(text).toContain(readFileSync(`../docs/examples/${template.file}`, 'utf8').split('\n')[0])
})

it('competing controls take a link with two senders, both orbits a link of each', () => {
  const of = (key: string) => TEMPLATES.find((one) => one.key === key) ?? expect.fail(key)
  const links = [link('geo-1', 'GEO'), link('geo-2', 'GEO', 2), link('leo-1', 'LEO')]
  expect(readDraft(fitted('links: [x]\n', of('pairs'), links)).data?.links).toEqual(['geo-2'])
  expect(readDraft(fitted('links: [x, y]\n', of('orbits'), links)).data?.links).toEqual(['geo-1', 'leo-1'])
  expect(readDraft(fitted('links: [x, y]\n', of('orbits'), [link('geo-1', 'GEO')])).data?.links).toEqual(['geo-1', 'y'])
})
