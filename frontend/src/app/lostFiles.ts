/**
 * The server has a newer version of the dashboard, and files of the one that is open are gone: pages are loaded when they are
 * first visited. The page is then loaded anew, once; when that does not help, the error goes on and is said in words.
 * While nothing answers, nothing is loaded anew: the browser's own error page would take the place of this one.
 */
const RELOADED = 'downlink-reloaded-at'
const ONCE_MS = 60_000

export function reloadOnLostFiles(): void {
  window.addEventListener('vite:preloadError', () => {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < ONCE_MS) return
    void reloadIfThere()
  })
}

/** Load the page anew if its server answers; whether it does. */
export async function reloadIfThere(): Promise<boolean> {
  const isThere = await fetch(window.location.pathname, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (isThere) {
    sessionStorage.setItem(RELOADED, String(Date.now()))
    window.location.reload()
  }
  return isThere
}
