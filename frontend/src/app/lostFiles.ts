/**
 * The server has a newer version of the dashboard, and files of the one that is open are gone: pages are loaded when they are
 * first visited. The page is then loaded anew, once; when that does not help, the error goes on and is said in words.
 */
const RELOADED = 'downlink-reloaded-at'
const ONCE_MS = 60_000

export function reloadOnLostFiles(reload = () => window.location.reload()): void {
  window.addEventListener('vite:preloadError', () => {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < ONCE_MS) return
    sessionStorage.setItem(RELOADED, String(Date.now()))
    reload()
  })
}

/** Browsers and vite each have their own words for a file of the page that does not come. */
export function isLostFile(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|preload CSS|module script failed/i.test(error.message)
}
