// Reads the examples of docs/feeds.md: its files, its commands with their output, and its list of paths.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/feeds.md'), 'utf8')

export type Example =
  | { kind: 'file'; name: string; text: string }
  | { kind: 'command'; args: string[]; prints: string }

export function examples(): Example[] {
  const blocks =
    /<!-- file: (\S+) -->\s+```\w+\n([\s\S]*?)^```$|^```console\n\$ feedsyncd (.*)\n([\s\S]*?)^```$/gm
  return [...PAGE.matchAll(blocks)].map(([, name, text = '', command = '', prints = '']) =>
    name === undefined
      ? { kind: 'command', args: command.split(' '), prints }
      : { kind: 'file', name, text },
  )
}

/** listedWords returns the words of each language, as the page lists them. */
export function listedWords(): Record<string, Record<string, string>> {
  const list = /^```text\n(German\n[\s\S]*?)^```$/m.exec(PAGE)?.[1] ?? ''
  return Object.fromEntries(
    list.split(/^(?=\w)/m).map((block) => {
      const [language = '', ...lines] = block.trim().split('\n')
      const words = lines.map((line) => /^\s+(\w+)\s+(.*)$/.exec(line)?.slice(1) ?? [])
      return [language, Object.fromEntries(words)]
    }),
  )
}

export function listedPaths(): Record<string, string[]> {
  const list = /^```text\n(id [\s\S]*?)^```$/m.exec(PAGE)?.[1] ?? ''
  const rows = list.split(/^(?=\w)/m).map((row) => row.trim().split(/\s+/))
  return Object.fromEntries(rows.map(([field = '', ...paths]) => [field, paths]))
}
