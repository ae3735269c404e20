// Decides whether the daemon uses a campaigns file. A writer can stop in the middle, and a file that was cut at the end
// of a line looks like one from which a person removed lines. So such a file waits for a person.

import type { ManagedFile } from './campaigns-file.ts'
import type { Entry } from './desired.ts'
import { droppedFields } from './field-changes.ts'
import type { Binding, CampaignReader, CampaignStore } from './port.ts'
import { CRITERIA, isEmpty, targetingSpend } from './targeting.ts'

/** recordUsed records a file as the last one used, so that the daemon uses it. */
export function recordUsed(store: CampaignStore, { entries, fileSha256 }: ManagedFile): void {
  if (store.usedFile()?.fileSha256 !== fileSha256)
    store.keepUsedFile({ fileSha256, keys: entries.map(({ key }) => key) })
}

/** whyNotUsed returns why a file might be cut, so that the daemon does not use it; null if the daemon uses it. */
export function whyNotUsed(
  { entries, fileSha256, isEnded }: ManagedFile,
  store: CampaignReader,
): string | null {
  const used = store.usedFile()
  if (used?.fileSha256 === fileSha256) return null
  if (!isEnded) return 'it does not end in a line break'
  const bindings = new Map(store.bindings().map((one) => [one.key, one]))
  const present = new Set(entries.map(({ key }) => key))
  const lost = used?.keys.find((key) => bindings.has(key) && !present.has(key))
  if (lost !== undefined) return `it no longer has the entry ${lost}`
  const last = entries.at(-1)
  const bound = bindings.get(last?.key ?? '')
  const gone = last === undefined || bound === undefined ? [] : goneLines(last, bound)
  return gone.length === 0
    ? null
    : `its last entry, ${last?.key}, covers more and no longer names ${gone.join(', ')}`
}

/**
 * goneLines returns the fields and criteria that we sent and that the entry no longer names. It returns none if the
 * entry cannot select more postings than the targeting that we sent.
 */
function goneLines(entry: Entry, bound: Binding): string[] {
  const { targeting } = entry
  const before = bound.sent.targeting
  if (targeting === null || before === null || targetingSpend(before, targeting) !== 'up') return []
  const criteria = CRITERIA.filter((name) => !isEmpty(before, name) && isEmpty(targeting, name))
  return [...droppedFields(entry, bound), ...criteria]
}
