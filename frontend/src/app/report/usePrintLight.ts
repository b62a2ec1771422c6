import { useEffect } from 'react'

const SCHEME = 'data-mantine-color-scheme'

/** Paper is white: while the page is printed it has the light colours, whatever the reader's scheme is. */
export function usePrintLight(): void {
  useEffect(() => {
    const root = document.documentElement
    let own: string | null = null
    const begin = () => {
      own ??= root.getAttribute(SCHEME)
      root.setAttribute(SCHEME, 'light')
    }
    const end = () => {
      if (own !== null) root.setAttribute(SCHEME, own)
      own = null
    }
    window.addEventListener('beforeprint', begin)
    window.addEventListener('afterprint', end)
    return () => {
      window.removeEventListener('beforeprint', begin)
      window.removeEventListener('afterprint', end)
      end()
    }
  }, [])
}
