import { readManifest, scriptsOf } from './scripts/sizes.mjs'

const BUILT = 'node_modules/.cache/size'
const FIRST = 'index.html'
const EDITOR = 'src/features/drafts/YamlEditor.tsx'
const SAMPLES = 'src/features/runs/raw/RawTab.tsx'
const MAP = 'src/features/paths/WorldMap.tsx'
const PDF = 'src/charts/pdf.ts'
const manifest = readManifest(BUILT)
/** @param {string[]} parts */
const scripts = (...parts) => scriptsOf(manifest, parts).map((file) => `${BUILT}/${file}`)
/** @param {string} part its own script, without what it shares with others */
const own = (part) => `${BUILT}/${manifest[part]?.file}`

export default [
  { name: 'first page: script', path: scripts(FIRST), limit: '148 kB' },
  { name: "a campaign's first chart: script", path: scripts(FIRST, 'src/app/pages/CampaignPage.tsx'), limit: '230 kB' },
  { name: 'styles', path: `${BUILT}/assets/*.css`, limit: '50 kB' },
  { name: 'the editor of campaign files, loaded by who opens one', path: own(EDITOR), limit: '150 kB' },
  { name: 'the samples of a run, loaded by who opens them', path: own(SAMPLES), limit: '35 kB' },
  { name: 'the map of the world, loaded by who opens a path', path: own(MAP), limit: '30 kB' },
  { name: 'the writer of PDF, loaded by who saves a figure as one', path: own(PDF), limit: '215 kB' },
  {
    name: 'everything else that a page may load',
    path: [`${BUILT}/assets/*.js`, `!${own(EDITOR)}`, `!${own(SAMPLES)}`, `!${own(MAP)}`, `!${own(PDF)}`],
    limit: '540 kB',
  },
]
