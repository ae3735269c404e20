// Owns the reading of one directory, in batches, so that a large one never holds the event loop.
// Names are bytes; those that are valid UTF-8 are text, the others are shown with their odd bytes
// percent-escaped and can be looked at by their bytes only.

import { opendirSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { BATCH } from './stat-batch.ts'

export interface Entry {
  name: string
  /** The name's bytes where they are not UTF-8; null: the name says it all. */
  raw: Buffer | null
  isDirectory: boolean
}

/** Latin-1 has one character a byte, so it loses nothing, and costs a third of reading buffers. */
const OPTIONS = { encoding: 'latin1', bufferSize: BATCH } as const

/** Throws the system's error. Calls the system directly where it answers at once, as stat-batch.ts does. */
export async function* readDirectory(path: string, remote: boolean): AsyncGenerator<Entry[]> {
  const directory = remote ? await opendir(path, OPTIONS) : opendirSync(path, OPTIONS)
  const next = remote ? () => directory.read() : () => directory.readSync()
  try {
    let batch: Entry[] = []
    for (let entry = await next(); entry !== null; entry = await next()) {
      batch.push({ ...named(entry.name), isDirectory: entry.isDirectory() })
      if (batch.length < BATCH) continue
      yield batch
      batch = []
    }
    yield batch
  } finally {
    await (remote ? directory.close() : directory.closeSync())
  }
}

function named(latin1: string): { name: string; raw: Buffer | null } {
  if (!/[\x80-\xFF]/.test(latin1)) return { name: latin1, raw: null }
  const bytes = Buffer.from(latin1, 'latin1')
  const text = asUtf8(bytes)
  return text === null ? { name: escaped(latin1), raw: bytes } : { name: text, raw: null }
}

/** `caf\xE9.xml` is `caf%E9.xml`: the runs that are valid UTF-8 stay. */
function escaped(latin1: string): string {
  return latin1.replace(/[\x80-\xFF]+/g, (run) => {
    const bytes = Buffer.from(run, 'latin1')
    return asUtf8(bytes) ?? [...bytes].map((byte) => `%${byte.toString(16).toUpperCase()}`).join('')
  })
}

function asUtf8(bytes: Buffer): string | null {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : null
}
