// Ends the binding of an entry at a person's command. Nothing is sent.

import { isOpen } from './open-creation.ts'
import type { CampaignReader, CampaignStore, CampaignWrite } from './port.ts'

/** Forgotten says what a key had before `forget`. */
export interface Forgotten {
  /** The campaign that was released; null if the key had no campaign. */
  campaignId: string | null
  /** The open creation, which blocks another creation for an hour; null if no creation is open. */
  open: CampaignWrite | null
}

/** forgettable returns what `forget` would return, and changes nothing. `now` is wall ms. */
export function forgettable(store: CampaignReader, key: string, now: number): Forgotten {
  const ofKey = store.openCreations().filter((one) => one.key === key)
  return {
    campaignId: store.bindings().find((one) => one.key === key)?.campaignId ?? null,
    open: ofKey.findLast((one) => isOpen(one, now)) ?? null,
  }
}

/**
 * forget ends the binding of a key at `at` (wall ms), and the creations of the key that can no longer appear. It
 * removes the entry from the last look. `by` says for the history who ran the command.
 */
export function forget(
  store: CampaignStore,
  { key, at, by }: { key: string; at: number; by: string },
): Forgotten {
  const found = forgettable(store, key, at)
  const { campaignId } = found
  store.atomically(() => {
    for (const creation of store.openCreations())
      if (creation.key === key && !isOpen(creation, at))
        store.end(creation.id, { outcome: 'not-sent', reason: 'a person ran forget', at })
    const row = { at, key, campaignId, action: 'forget', body: null, before: {} } as const
    const id = store.begin({ ...row, actor: 'person', by })
    store.end(id, { outcome: 'done', reason: null, at })
    if (campaignId !== null) store.release(campaignId, key)
    // The stored state is out of date; the next look finds the new one.
    const run = store.lastRun()
    if (run !== null)
      store.keepRun({ ...run, entries: run.entries.filter((one) => one.key !== key) })
  })
  return found
}
