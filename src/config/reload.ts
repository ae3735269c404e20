// Which changes of the configuration a running daemon takes up (SIGHUP). Every other key is read at the start and needs
// a restart. Pure.

import type { Config } from './config.ts'
import { printableConfig } from './print.ts'

const RELOADABLE = new Set([
  'inbox.rescan',
  'inbox.incompleteAfter',
  'inbox.afterUpload',
  'inbox.afterReject',
  'inbox.receipts',
  'feeds',
  'guards.maxDropPercent',
  'guards.minPostings',
  'guards.maxShrinkPercent',
  'guards.maxReplacedPercent',
  'upload.concurrency',
  'upload.keepVersions',
  'state.historyFor',
  'alerts',
  'log.level',
])

/** Keys that differ and have no effect before a restart, as they are written: `inbox.directory`. */
export function keysForRestart(before: Config, after: Config): string[] {
  const old = keysOf(before)
  const now = keysOf(after)
  const all = new Set([...old.keys(), ...now.keys()])
  return [...all].filter((key) => !RELOADABLE.has(key) && old.get(key) !== now.get(key))
}

function keysOf(config: Config): Map<string, string> {
  const sections = Object.entries(printableConfig(config))
  const keys = sections.flatMap(([section, value]) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? [[section, value] as const]
      : Object.entries(value).map(([key, written]) => [`${section}.${key}`, written] as const),
  )
  return new Map(keys.map(([key, written]) => [key, JSON.stringify(written) ?? '']))
}
