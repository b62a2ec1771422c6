import { spawn } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const ROOT = resolve(import.meta.dirname, '../..')
const ACCOUNT = { username: 'researcher', password: 'a long walk by the sea' }
/** Runs while pictures are taken; what it measured once is among the recorded ones. */
const LIVE = 'docs/examples/buffers-small.yaml'
const RECORDED = ['docs/examples/recorded-leo.zip', 'docs/examples/recorded-buffers.zip']
const START_S = 180

/**
 * A stack of its own in `home`, which is emptied before and removed afterwards: with the recorded campaigns, one that runs, a path, a day of weather, and an account.
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
    if (demo.exitCode === null) {
      demo.kill('SIGINT')
      await new Promise((done) => demo.once('exit', done))
    }
    await rm(folder, { recursive: true, force: true })
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
    for (const archive of RECORDED) await command(['seed', archive], env)
    await makePath(env)
    const weather = `${folder}/station.csv`
    await writeFile(weather, stationDay())
    await command(['weather', 'import', weather, '--link', 'geo-20mbps'], env)
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
 * @param {string[]} words of `downlink`
 * @param {NodeJS.ProcessEnv} env
 */
function command(words, env) {
  return new Promise((done, fail) => {
    const running = spawn('.venv/bin/downlink', words, { cwd: ROOT, env, stdio: 'inherit' })
    running.once('exit', (code) => (code === 0 ? done(undefined) : fail(new Error(`downlink ${words.join(' ')} failed`))))
  })
}

/**
 * An hour of satellites between London and New York.
 * @param {NodeJS.ProcessEnv} env
 */
async function makePath(env) {
  /** @param {string} path @param {RequestInit} [options] */
  const call = async (path, options) => {
    const headers = { authorization: `Bearer ${env.DOWNLINK_TOKEN}`, 'content-type': 'application/json' }
    return (await fetch(`${env.DOWNLINK_SERVER}/api/v1${path}`, { headers, ...options })).json()
  }
  const { id } = await call('/paths', { method: 'POST', body: JSON.stringify({ ready: 'london-new-york', hours: 1 }) })
  for (let waited_s = 0; waited_s < START_S; waited_s++) {
    const { state } = await call(`/paths/${id}`)
    if (state === 'ready') return
    await sleep(1000)
  }
  throw new Error('the path was not made')
}

/** Ten-minute values of a weather station over the last day: a shower at four hours before now. */
function stationDay() {
  const now_ms = Date.now()
  const rows = Array.from({ length: 144 }, (_, back) => {
    const hours = (143 - back) / 6
    const rain = Math.max(0, 6 - 8 * Math.abs(hours - 4)).toFixed(1)
    const temperature = (8 + 5 * Math.cos(hours / 3.8)).toFixed(1)
    return `${new Date(now_ms - hours * 3_600_000).toISOString()},${rain},${temperature}`
  })
  return ['time,weather.rain_mm_per_h,weather.temperature_c', ...rows, ''].join('\n')
}
