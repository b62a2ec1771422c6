import { isLostFile, loadTwice } from '@/ui/LazyPart'

/**
 * The server has a newer version of the dashboard, and files of the one that is open are gone: pages are loaded when they are
 * first visited. The page is then loaded again, once; when that does not help, the error goes on and is said in words.
 * While nothing answers, nothing is loaded again: the browser's own error page would take the place of this one.
 */
const RELOADED = 'downlink-reloaded-at'
const ONCE_MS = 60_000

/** A page's script, asked for twice; when it stays away although the server is there, the whole page is loaded again. */
export async function loadPage<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await loadTwice(load)
  } catch (error) {
    const wasReloaded = Date.now() - Number(sessionStorage.getItem(RELOADED)) < ONCE_MS
    if (!isLostFile(error)) throw error
    if (!wasReloaded && (await reloadIfThere())) return new Promise(() => undefined)
    // In words of our own: the router loads the page again once more for the browser's.
    throw new Error("A page's module script failed to load.", { cause: error })
  }
}

/** Load the page again if its server answers; whether it does. */
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
