import { ActionIcon, Button, Group, Menu, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { listAt, placeOf } from './document'
import classes from './drafts.module.css'
import { Reasons } from './fields'
import {
  type ConditionData,
  conditionsOf,
  FACTOR_KINDS,
  type Factor,
  factorTitle,
  type Level,
  type Matrix,
  madeFactor,
  matrixOf,
} from './matrix'
import { plain } from './SettingsEditor'
import { useDraft } from './view'

/** Conditions as factors and their levels; every change rebuilds the conditions. */
export function MatrixEditor() {
  const { data, editList } = useDraft()
  const conditions = listAt(data, ['conditions']) as ConditionData[]
  const [kept, setKept] = useState<Matrix | null>(null)
  const isSame = kept !== null && JSON.stringify(conditionsOf(kept)) === JSON.stringify(conditions)
  const found = isSame ? kept : matrixOf(conditions)
  const write = (matrix: Matrix) => {
    setKept(matrix)
    editList(['conditions'], conditionsOf(matrix))
  }
  if (!found)
    return <NoMatrix count={conditions.length} onStart={() => write(matrixOf(conditions.slice(0, 1)) ?? { base: [], factors: [] })} />
  const { base, factors } = found
  const change = (index: number, factor: Factor | null) =>
    write({ base, factors: factors.flatMap((one, other) => (other !== index ? [one] : factor ? [factor] : [])) })
  const taken = new Set(factors.flatMap(({ places }) => places.map(placeOf)))
  const isFree = (kind: (typeof FACTOR_KINDS)[number]) => kind.places.every((path) => !taken.has(placeOf(path)))
  return (
    <Stack gap="md">
      <Reasons path={['conditions']} />
      <Text size="sm" aria-live="polite">
        {sizeText(factors)}
      </Text>
      {factors.map((factor, index) => (
        <FactorEditor key={factor.places.map(placeOf).join()} factor={factor} onChange={(next) => change(index, next)} />
      ))}
      <div>
        <Menu position="bottom-start">
          <Menu.Target>
            <Button size="xs" variant="light">
              Add a factor
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {FACTOR_KINDS.filter(isFree).map((kind) => (
              <Menu.Item
                key={kind.title}
                onClick={() => write({ base: withoutPlaces(base, kind.places.map(placeOf)), factors: [...factors, madeFactor(kind)] })}
              >
                {kind.title}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </div>
    </Stack>
  )
}

const withoutPlaces = (base: Matrix['base'], places: readonly string[]) => base.filter(([path]) => !places.includes(placeOf(path)))

/** "2 × 4 × 2 = 16 conditions". */
function sizeText(factors: readonly Factor[]): string {
  const sizes = factors.map(({ levels }) => levels.length)
  const size = sizes.reduce((product, one) => product * one, 1)
  const total = `${size} ${size === 1 ? 'condition' : 'conditions'}`
  if (sizes.length === 0) return 'One condition. Add a factor, and each of its levels becomes a condition.'
  return sizes.length === 1 ? total : `${sizes.join(' × ')} = ${total}, every combination once in each cycle`
}

function NoMatrix({ count, onStart }: { count: number; onStart: () => void }) {
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        These {count} conditions are not every combination of some factors: they are a list. A matrix begins with the first of them and
        takes the place of the others.
      </Text>
      <Button size="xs" variant="default" onClick={onStart}>
        Start a matrix from the first condition
      </Button>
    </Stack>
  )
}

function FactorEditor({ factor, onChange }: { factor: Factor; onChange: (factor: Factor | null) => void }) {
  const title = factorTitle(factor)
  const setLevel = (index: number, level: Level | null) =>
    onChange({ ...factor, levels: factor.levels.flatMap((one, other) => (other !== index ? [one] : level ? [level] : [])) })
  const add = () =>
    onChange({ ...factor, levels: [...factor.levels, { label: freeLabel(factor), values: factor.levels.at(-1)?.values ?? [undefined] }] })
  return (
    <fieldset className={`${classes.settings} ${classes.flow}`}>
      <legend>
        <Group gap="xs">
          {title}
          <Button size="compact-xs" variant="subtle" color="gray" aria-label={`Remove the factor ${title}`} onClick={() => onChange(null)}>
            Remove
          </Button>
        </Group>
      </legend>
      {factor.levels.map((level, index) => (
        <LevelEditor
          // biome-ignore lint/suspicious/noArrayIndexKey: a level is known by its place; its name is being typed
          key={index}
          name={`${title}, level ${index + 1}`}
          places={factor.places.map(placeOf)}
          level={level}
          onChange={(next) => setLevel(index, next)}
          canGo={factor.levels.length > 1}
        />
      ))}
      <div>
        <Button size="compact-xs" variant="light" onClick={add} aria-label={`Add a level to ${title}`}>
          Add a level
        </Button>
      </div>
    </fieldset>
  )
}

function freeLabel({ levels }: Factor): string {
  const taken = new Set(levels.map(({ label }) => label))
  let number = levels.length + 1
  while (taken.has(`level ${number}`)) number += 1
  return `level ${number}`
}

interface LevelEditorProps {
  name: string
  places: string[]
  level: Level
  onChange: (level: Level | null) => void
  canGo: boolean
}

function LevelEditor({ name, places, level, onChange, canGo }: LevelEditorProps) {
  const setValue = (place: number, text: string) =>
    onChange({ ...level, values: level.values.map((value, other) => (other === place ? (text === '' ? undefined : plain(text)) : value)) })
  return (
    <div className={classes.level}>
      <TextInput
        size="xs"
        aria-label={`${name}: name`}
        value={level.label}
        onChange={(event) => onChange({ ...level, label: event.currentTarget.value })}
      />
      <Stack gap={4}>
        {places.map((place, index) => (
          <TextInput
            key={place}
            size="xs"
            aria-label={`${name}: ${place}`}
            title={place}
            placeholder="as it is"
            value={level.values[index] === undefined ? '' : String(level.values[index])}
            onChange={(event) => setValue(index, event.currentTarget.value)}
          />
        ))}
      </Stack>
      <ActionIcon variant="subtle" color="gray" disabled={!canGo} aria-label={`Remove ${name}`} onClick={() => onChange(null)}>
        <Text aria-hidden="true">×</Text>
      </ActionIcon>
    </div>
  )
}
