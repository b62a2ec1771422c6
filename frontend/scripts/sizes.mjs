/** What pages load, by the manifest of the built dashboard: files are found by what imports what, whatever their names are. */
import { readFileSync } from 'node:fs'

/** @typedef {Record<string, {file: string, imports?: string[], css?: string[]}>} Manifest */

/**
 * The scripts that are there before the last of these parts can run: theirs, and all that they import.
 * @param {Manifest} manifest
 * @param {readonly string[]} parts as sources, such as `src/app/pages/CampaignPage.tsx`
 */
export function scriptsOf(manifest, parts) {
  /** @type {Set<string>} */
  const found = new Set()
  const waiting = [...parts]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    const part = manifest[name]
    if (!part) throw new Error(`the build has no ${name}`)
    found.add(name)
    waiting.push(...(part.imports ?? []))
  }
  return [...found].map((name) => manifest[name]?.file ?? '').filter((file) => file.endsWith('.js'))
}

/** @param {string} folder of the build @returns {Manifest} */
export const readManifest = (folder) => JSON.parse(readFileSync(`${folder}/.vite/manifest.json`, 'utf8'))
