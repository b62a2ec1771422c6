import { spawn } from 'node:child_process'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const ROOT = resolve(import.meta.dirname, '../..')
const ACCOUNT = { username: 'researcher', password: 'a long walk by the sea' }
/** Runs while pictures are taken; what it measured once is among the recorded ones. */
const LIVE = 'docs/examples/buffers-small.yaml'
const RECORDED = ['docs/reproduction/archives/002-leo.zip', 'docs/examples/recorded-buffers.zip']
const START_S = 180

/**
 * A stack of its own in `home`, which is emptied first: with the recorded campaigns, one that runs, and an account.
 * @param {string} home
 */
export async function startStack(home) {
  const folder = resolve(home)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const demo = spawn('.venv/bin/downlink', ['stack', 'demo', '--home', folder, '--campaign', LIVE], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = async () => {
    if (demo.exitCode !== null) return
    demo.kill('SIGINT')
    await new Promise((done) => demo.once('exit', done))
  }
  try {
    const said = await firstRun(demo)
    const link = new URL(String(/http\S+\/setup#\S+/.exec(said)))
    const answer = await fetch(new URL('/api/v1/setup', link), {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: link.origin },
      body: JSON.stringify({ token: link.hash.slice(1), ...ACCOUNT }),
    })
    if (!answer.ok) throw new Error(`no account was made: ${await answer.text()}`)
    const env = { ...process.env, ...(await accessOf(`${folder}/env`)) }
    for (const archive of RECORDED) await seed(archive, env)
    return { baseUrl: link.origin, ...ACCOUNT, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * What the stack said until its first run was under way.
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, null>} demo
 */
async function firstRun(demo) {
  let said = ''
  demo.stdout.on('data', (chunk) => {
    said += chunk
  })
  for (let waited_s = 0; waited_s < START_S; waited_s++) {
    if (/: running$/m.test(said)) return said
    if (demo.exitCode !== null) break
    await sleep(1000)
  }
  throw new Error(`the stack did not come up:\n${said}`)
}

/** @param {string} file */
async function accessOf(file) {
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

/**
 * @param {string} archive
 * @param {NodeJS.ProcessEnv} env
 */
function seed(archive, env) {
  return new Promise((done, fail) => {
    const loading = spawn('.venv/bin/downlink', ['seed', archive], { cwd: ROOT, env, stdio: 'inherit' })
    loading.once('exit', (code) => (code === 0 ? done(undefined) : fail(new Error(`${archive} was not loaded`))))
  })
}
