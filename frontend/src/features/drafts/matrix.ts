/**
 * Conditions as every combination of factors' levels. A campaign file knows conditions alone: the factors are read from what
 * differs between them, and conditions are made from factors again.
 */
import { type Path, placeOf } from './document'

export type Value = string | number | boolean

export interface Level {
  label: string
  /** One for each place of the factor; undefined leaves the place out. */
  values: (Value | undefined)[]
}

export interface Factor {
  places: Path[]
  levels: Level[]
}

export interface Matrix {
  /** What all conditions share. */
  base: [Path, Value][]
  factors: Factor[]
}

export type ConditionData = Record<string, unknown>

const BETWEEN_LABELS = ', '

/** Every plain value of a condition with its place, but for its name. */
function leaves(condition: unknown): [Path, Value][] {
  const walk = (value: unknown, path: Path): [Path, Value][] => {
    if (Array.isArray(value)) return value.flatMap((item, index) => walk(item, [...path, index]))
    if (typeof value === 'object' && value !== null) return Object.entries(value).flatMap(([key, inner]) => walk(inner, [...path, key]))
    return value === null || value === undefined ? [] : [[path, value as Value]]
  }
  return walk(condition, []).filter(([path]) => path[0] !== 'name' || path.length > 1)
}

interface Column {
  path: Path
  values: (Value | undefined)[]
}

/** The factors of these conditions; null when they are not every combination of something. */
export function matrixOf(conditions: readonly ConditionData[]): Matrix | null {
  if (conditions.length === 0) return null
  const columns = columnsOf(conditions)
  const isShared = ({ values }: Column) => values.every((value) => value === values[0])
  const base = columns
    .filter(isShared)
    .flatMap(({ path, values: [value] }): [Path, Value][] => (value === undefined ? [] : [[path, value]]))
  const groups = groupsOf(columns.filter((column) => !isShared(column)))
  const factors = labelled(
    groups,
    conditions.map(({ name }) => String(name ?? '')),
  )
  const combinations = new Set(conditions.map((_, index) => groups.map((group) => keyAt(group, index)).join('|')))
  const size = factors.reduce((product, { levels }) => product * levels.length, 1)
  return size === conditions.length && combinations.size === size ? { base, factors } : null
}

function columnsOf(conditions: readonly ConditionData[]): Column[] {
  const rows = conditions.map((condition) => new Map(leaves(condition).map(([path, value]) => [placeOf(path), { path, value }])))
  const paths = new Map(rows.flatMap((row) => [...row].map(([place, { path }]) => [place, path] as const)))
  return [...paths].map(([place, path]) => ({ path, values: rows.map((row) => row.get(place)?.value) }))
}

const distinct = (values: readonly unknown[]) => new Set(values).size
const changes = (values: readonly unknown[]) => values.filter((value, index) => index > 0 && value !== values[index - 1]).length
const keyAt = (group: readonly Column[], index: number) => JSON.stringify(group.map(({ values }) => values[index] ?? null))

/** Places whose values follow from another's belong to one factor. Slowest first. */
function groupsOf(columns: readonly Column[]): Column[][] {
  const groups: Column[][] = []
  for (const column of [...columns].sort((a, b) => distinct(b.values) - distinct(a.values))) {
    const owner = groups.find((group) => follows(column, group))
    if (owner) owner.push(column)
    else groups.push([column])
  }
  return groups.sort((a, b) => changes(a[0]?.values ?? []) - changes(b[0]?.values ?? []))
}

const follows = (column: Column, group: readonly Column[]) =>
  distinct(column.values.map((value, index) => `${keyAt(group, index)} ${String(value)}`)) ===
  distinct(column.values.map((_, index) => keyAt(group, index)))

/** Labels are the parts of the conditions' names where these have a part for each factor, else what the values say. */
function labelled(groups: readonly Column[][], names: readonly string[]): Factor[] {
  const parts = names.map((name) => (groups.length === 1 ? [name] : name.split(BETWEEN_LABELS)))
  const isNamed = parts.every((own) => own.length === groups.length)
  const partOf = groups.map((group) =>
    isNamed
      ? groups.findIndex((_, part) =>
          isLabel(
            group,
            parts.map((own) => own[part] ?? ''),
          ),
        )
      : -1,
  )
  const hasOwnParts = new Set(partOf).size === groups.length && !partOf.includes(-1)
  const order = groups.map((_, index) => index)
  if (hasOwnParts) order.sort((a, b) => (partOf[a] ?? 0) - (partOf[b] ?? 0))
  return order.map((index) => {
    const group = groups[index] ?? []
    const firsts = names.flatMap((_, at) => (names.findIndex((_, other) => keyAt(group, other) === keyAt(group, at)) === at ? [at] : []))
    const levels = firsts.map((at): Level => {
      const values = group.map((column) => column.values[at])
      return { label: hasOwnParts ? (parts[at]?.[partOf[index] ?? 0] ?? '') : valuesText(values), values }
    })
    return { places: group.map(({ path }) => path), levels }
  })
}

/** Whether these texts say exactly which level each condition has. */
function isLabel(group: readonly Column[], texts: readonly string[]): boolean {
  const levels = distinct(texts.map((_, index) => keyAt(group, index)))
  return distinct(texts) === levels && distinct(texts.map((text, index) => `${text} ${keyAt(group, index)}`)) === levels
}

const valuesText = (values: readonly (Value | undefined)[]) =>
  values.map((value) => (value === undefined ? 'as it is' : String(value))).join(' and ')

/** Every combination, the first factor slowest. */
export function conditionsOf({ base, factors }: Matrix, nameOfNone = 'Condition'): ConditionData[] {
  const combinations = factors.reduce<Level[][]>((all, { levels }) => all.flatMap((one) => levels.map((level) => [...one, level])), [[]])
  return combinations.map((levels) => {
    const name = levels.map(({ label }) => label).join(BETWEEN_LABELS) || nameOfNone
    const own = factors.flatMap(({ places }, factor) =>
      places.map((path, place): [Path, Value | undefined] => [path, levels[factor]?.values[place]]),
    )
    return built(name, [...base, ...own])
  })
}

const KEYS = ['sender', 'receiver', 'relay', 'stop', 'flows', 'varied']

function built(name: string, values: readonly (readonly [Path, Value | undefined])[]): ConditionData {
  const condition: ConditionData = { name }
  const known = values.filter((one): one is readonly [Path, Value] => one[1] !== undefined)
  for (const [path, value] of [...known].sort(([a], [b]) => KEYS.indexOf(String(a[0])) - KEYS.indexOf(String(b[0]))))
    put(condition, path, value)
  return condition
}

function put(into: ConditionData, path: Path, value: Value): void {
  let inner = into as Record<string | number, unknown>
  path.forEach((part, index) => {
    if (index === path.length - 1) inner[part] = value
    else {
      inner[part] ??= typeof path[index + 1] === 'number' ? [] : {}
      inner = inner[part] as Record<string | number, unknown>
    }
  })
}

interface FactorKind {
  title: string
  places: Path[]
  levels: readonly (readonly [label: string, value: Value])[]
}

/** Factors that studies use, with levels to begin with. */
export const FACTOR_KINDS: readonly FactorKind[] = [
  {
    title: 'Congestion control',
    places: [['flows', 0, 'cc']],
    levels: [
      ['Cubic', 'cubic'],
      ['BBR', 'bbr'],
    ],
  },
  {
    title: 'HyStart',
    places: [['sender', 'tcp_cubic.hystart']],
    levels: [
      ['HyStart on', 1],
      ['HyStart off', 0],
    ],
  },
  {
    title: 'HyStart’s detectors',
    places: [['sender', 'tcp_cubic.hystart_detect']],
    levels: [
      ['both detectors', 3],
      ['packet train', 1],
      ['delay', 2],
    ],
  },
  {
    title: 'Receive buffer',
    places: [['receiver', 'net.ipv4.tcp_rmem']],
    levels: [
      ['rmem default', '4096 131072 6291456'],
      ['rmem up to 60 MB', '4096 131072 60000000'],
    ],
  },
  {
    title: 'Send buffer',
    places: [['sender', 'net.ipv4.tcp_wmem']],
    levels: [
      ['wmem default', '4096 16384 4194304'],
      ['wmem up to 60 MB', '4096 16384 60000000'],
    ],
  },
  {
    title: 'Autotuning of the receive buffer',
    places: [['receiver', 'net.ipv4.tcp_moderate_rcvbuf']],
    levels: [
      ['autotuning', 1],
      ['no autotuning', 0],
    ],
  },
  {
    title: 'Initial window',
    places: [['sender', 'route.initcwnd']],
    levels: [
      ['10 segments', 10],
      ['50 segments', 50],
    ],
  },
]

export const madeFactor = ({ places, levels }: FactorKind): Factor => ({
  places: [...places],
  levels: levels.map(([label, value]) => ({ label, values: [value] })),
})

/** What a factor is called: by its kind, else by its places. */
export function factorTitle({ places }: Factor): string {
  const own = places.map(placeOf)
  const kind = FACTOR_KINDS.find((one) => own.length === 1 && one.places.map(placeOf)[0] === own[0])
  return kind?.title ?? own.map((place) => place.replace(/^flows\[(\d+)\]/, (_, flow) => `flow ${Number(flow) + 1}`)).join(' and ')
}
