// Owns the reading of one directory. Names are bytes; those that are valid UTF-8 are text, the others
// are shown with their odd bytes percent-escaped and can be looked at by their bytes only.

import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'

export interface Entry {
  name: string
  /** The name's bytes where they are not UTF-8; null: the name says it all. */
  raw: Buffer | null
  isDirectory: boolean
}

const REPLACEMENT = '\uFFFD'

/** Throws the system's error. */
export async function readDirectory(path: string): Promise<Entry[]> {
  const entries = await readdir(path, { withFileTypes: true })
  // Text is three times as fast as bytes, and shows by itself where it is not enough.
  if (entries.some(({ name }) => name.includes(REPLACEMENT))) return readBytes(path)
  return entries.map((entry) => ({ name: entry.name, raw: null, isDirectory: entry.isDirectory() }))
}

async function readBytes(path: string): Promise<Entry[]> {
  const entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' })
  const taken = new Set(entries.map(({ name }) => name.toString()))
  return entries.map((entry) => entryOf(entry, taken))
}

function entryOf(entry: Dirent<Buffer>, taken: Set<string>): Entry {
  const text = entry.name.toString()
  const isDirectory = entry.isDirectory()
  if (Buffer.from(text).equals(entry.name)) return { name: text, raw: null, isDirectory }
  // A file may really be called `caf%E9.xml`: two paths must not be told as one.
  const free = (name: string): string => (taken.has(name) ? free(`%${name}`) : name)
  const name = free(escaped(entry.name))
  taken.add(name)
  return { name, raw: entry.name, isDirectory }
}

/** `caf\xE9.xml` is `caf%E9.xml`. */
function escaped(bytes: Buffer): string {
  // Latin-1 has one character a byte, so that the runs of valid UTF-8 can be told from the rest.
  return bytes.toString('latin1').replace(/[\x80-\xFF]+/g, (run) => {
    const raw = Buffer.from(run, 'latin1')
    const text = raw.toString()
    if (Buffer.from(text).equals(raw)) return text
    return [...raw].map((byte) => `%${byte.toString(16).toUpperCase()}`).join('')
  })
}
