/** A host's fingerprint as names and values to read; nested facts are written out. */
export function factItems(fingerprint: Record<string, unknown>): [string, string][] {
  return Object.entries(fingerprint).map(([name, value]) => [name.replaceAll('_', ' '), factText(value)])
}

export function factText(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(factText).join(', ')
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${factText(inner)}`)
      .join(', ')
  return String(value)
}
