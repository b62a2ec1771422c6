import { Autocomplete, Select, TagsInput, TextInput } from '@mantine/core'
import { listAt, type Path, placeOf } from './document'
import classes from './drafts.module.css'
import { Reasons } from './fields'
import { shapeAt } from './schema'
import { meant, VARIED_KEYS, type Value, valuesOf, variedOf, type Way } from './vary'
import { useDraft, useField } from './view'

const VARY: Path = ['vary']
const PARTS = ['sender', 'receiver', 'relay'] as const
const WAYS: { value: Way; label: string }[] = [
  { value: 'none', label: 'no key' },
  { value: 'values', label: 'a key of the conditions' },
  { value: 'links', label: 'what the links differ in' },
]
const HELP: Readonly<Record<Way, string>> = {
  none: 'Figures show its values along the x-axis',
  values: 'Each value becomes a condition; figures show the values along the x-axis',
  links: 'Each link has a value; figures show the values along the x-axis',
}

/** One key with several values, which figures have as x. */
export function VaryFields() {
  const { data, edit } = useDraft()
  const { way } = variedOf(data)
  const links = listAt(data, ['links']).map(String)
  const change = (next: Way) => {
    const first = {
      none: undefined,
      values: { seconds: [30, 60] },
      links: { x: Object.fromEntries(links.map((link, index) => [link, index])) },
    }
    if (next !== way) edit(VARY, first[next])
  }
  return (
    <fieldset className={`${classes.settings} ${classes.vary}`}>
      <legend>One key with several values</legend>
      <Select
        label="Varies"
        description={HELP[way]}
        data={WAYS}
        allowDeselect={false}
        value={way}
        onChange={(next) => change((next ?? 'none') as Way)}
      />
      <Reasons path={VARY} />
      {way === 'values' ? <ValuesOfKey /> : null}
      {way === 'links' ? <ValueOfLinks /> : null}
    </fieldset>
  )
}

function ValuesOfKey() {
  const { data, schema, edit, problems } = useDraft()
  const { key, values } = variedOf(data)
  const place = placeOf([...VARY, key])
  const wrong = problems.filter((one) => one.place === place || one.place.startsWith(`${place}[`)).map(({ message }) => message)
  const settings = PARTS.flatMap((part) =>
    Object.keys(shapeAt(schema, ['defaults', part])?.properties ?? {}).map((name) => `${part}.${name}`),
  )
  return (
    <div className={classes.pair}>
      <Autocomplete
        label="Key"
        description="A key of flows or conditions, or a host setting"
        required
        data={[...VARIED_KEYS, ...settings]}
        limit={20}
        value={key}
        onChange={(next) => next !== key && edit(VARY, { [next]: values })}
      />
      <TagsInput
        label="Values"
        description="In the unit of the key’s name, such as bytes or ms; Enter or a comma ends each"
        error={wrong.length > 0 ? wrong.join(' ') : undefined}
        required
        value={values.map(String)}
        onChange={(next) => edit([...VARY, key], valuesOf(next, values))}
      />
    </div>
  )
}

function ValueOfLinks() {
  const { data, edit } = useDraft()
  const { key, byLink } = variedOf(data)
  const links = [...new Set([...listAt(data, ['links']).map(String), ...Object.keys(byLink)])]
  const rename = (next: string) => edit(VARY, { [next]: byLink })
  return (
    <>
      <div className={classes.pair}>
        <TextInput
          label="What they differ in"
          description="Any name, such as gsl_rtt_ms; figures show it"
          required
          value={key}
          onChange={(event) => rename(event.currentTarget.value)}
        />
      </div>
      <Reasons path={[...VARY, key]} />
      <div className={classes.pair}>
        {links.map((link) => (
          <ValueOfLink key={link} path={[...VARY, key, link]} link={link} value={byLink[link]} />
        ))}
      </div>
    </>
  )
}

function ValueOfLink({ path, link, value }: { path: Path; link: string; value: Value | undefined }) {
  const { error, set } = useField(path)
  return (
    <TextInput
      label={`Value for ${link}`}
      error={error}
      required
      value={value === undefined || value === null ? '' : String(value)}
      onChange={(event) => set(event.currentTarget.value === '' ? undefined : meant(event.currentTarget.value))}
    />
  )
}
