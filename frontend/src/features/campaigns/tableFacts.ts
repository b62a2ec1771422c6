import { useEffect, useState } from 'react'

/** What a file with a table holds. */
export interface TableFacts {
  /** Without the line of heads. */
  rows: number
  bytes: number
  /** As they are in the file, the line of heads first. */
  lines: string[]
}

const SHOWN_LINES = 4
const SHOWN_LETTERS = 2_000

/** Reads a CSV to its end, piece by piece: only its first lines are kept. */
export async function readTable(pieces: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>): Promise<TableFacts> {
  const text = new TextDecoder()
  let [bytes, ends, isQuoted, begin] = [0, 0, false, '']
  const shown: number[] = []
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength
    for (const letter of piece) {
      // A line may end within quotes; a quote that is written twice changes nothing.
      if (letter === 0x22) isQuoted = !isQuoted
      else if (letter === 0x0a && !isQuoted) ends += 1
    }
    if (begin.length < SHOWN_LETTERS) begin += text.decode(piece, { stream: true })
  }
  for (let at = 0; shown.length < SHOWN_LINES; at += 1) {
    at = begin.indexOf('\n', at)
    if (at === -1) break
    shown.push(at)
  }
  const lines = shown.map((end, index) => begin.slice(index === 0 ? 0 : (shown[index - 1] ?? 0) + 1, end).trimEnd())
  return { rows: Math.max(0, ends - 1), bytes, lines: lines.length > 0 ? lines : [begin.slice(0, SHOWN_LETTERS)] }
}

/** Each file in turn, so that a server makes one at a time; null: it cannot be had. Nothing is asked for before it is wanted. */
export function useTableFacts(base: string, names: readonly string[], isWanted: boolean): Partial<Record<string, TableFacts | null>> {
  const [found, setFound] = useState<Partial<Record<string, TableFacts | null>>>({})
  const list = names.join(' ')
  useEffect(() => {
    if (!isWanted) return
    const stop = new AbortController()
    const read = async () => {
      for (const name of list.split(' ')) {
        const facts = await factsOf(`${base}/${name}`, stop.signal)
        if (stop.signal.aborted) return
        setFound((before) => ({ ...before, [name]: facts }))
      }
    }
    void read()
    return () => stop.abort()
  }, [base, list, isWanted])
  return found
}

async function factsOf(url: string, signal: AbortSignal): Promise<TableFacts | null> {
  try {
    const answer = await fetch(url, { signal })
    return answer.ok && answer.body ? await readTable(answer.body) : null
  } catch {
    return null
  }
}
