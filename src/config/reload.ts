// Which changes of the configuration a running daemon takes up (SIGHUP). Every other key is read at the start and needs
// a restart, and what means something only together with such a key waits with it. Pure.

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
  'upload.concurrency',
  'upload.keepVersions',
  'state.historyFor',
  'alerts',
  'log.level',
])

const FOLDER = ['inbox.directory', 'inbox.include', 'inbox.exclude']
const SERVICE = ['baseUrl', 'account', 'partner', 'partnerAccount', 'presignPath']

/**
 * Rules name accounts of one service and paths of one folder. In another one, feeds would go to a wrong account, and
 * files would be moved or deleted that nobody meant.
 */
const WAITS_WITH: Readonly<Record<string, readonly string[]>> = {
  feeds: [...FOLDER, ...SERVICE.map((key) => `service.${key}`)],
  'inbox.afterUpload': [...FOLDER, 'inbox.archiveDirectory'],
  'inbox.afterReject': [...FOLDER, 'inbox.quarantineDirectory'],
  'inbox.receipts': FOLDER,
}

/** Keys that differ and have no effect before a restart, as they are written: `inbox.directory`. */
export function keysForRestart(before: Config, after: Config): string[] {
  const old = keysOf(before)
  const now = keysOf(after)
  const all = new Set([...old.keys(), ...now.keys()])
  const changed = [...all].filter((key) => old.get(key) !== now.get(key))
  const fixed = changed.filter((key) => !RELOADABLE.has(key))
  return changed.filter(
    (key) => fixed.includes(key) || WAITS_WITH[key]?.some((other) => fixed.includes(other)),
  )
}

/** What is in force after a reload: of `after` the reloadable keys, but for those that wait for a restart. */
export function reloaded(before: Config, after: Config): { config: Config; waiting: string[] } {
  const waiting = keysForRestart(before, after)
  const merged = (old: object, now: object, section = ''): object =>
    Object.fromEntries(
      Object.entries(old).map(([key, value]) => {
        const name = section + key.replace(/Ms$/, '')
        const other = now[key as keyof typeof now]
        if (RELOADABLE.has(name)) return [key, waiting.includes(name) ? value : other]
        return [key, section === '' ? merged(value, other, `${name}.`) : value]
      }),
    )
  return { config: merged(before, after) as Config, waiting }
}

function keysOf(config: Config): Map<string, string> {
  const sections = Object.entries(printableConfig(config))
  const keys = sections.flatMap(([section, value]) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? [[section, value] as const]
      : Object.entries(value).map(([key, written]) => [`${section}.${key}`, written] as const),
  )
  // Whether a file was named says more than its path.
  const { explicit, file } = config.campaigns
  keys.push(['campaigns.file', [explicit, file]])
  return new Map(keys.map(([key, written]) => [key, JSON.stringify(written) ?? '']))
}
