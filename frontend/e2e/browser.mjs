import { chromium } from 'playwright-core'

/** Debian's browser, quiet: it asks nothing of the network but the page. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** @param {string} [executablePath] */
export function launchBrowser(executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium') {
  return chromium.launch({ executablePath, headless: true, args: FLAGS })
}
