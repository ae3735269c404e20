// A person lets the campaign of an entry go. Nothing is sent.

import type { CampaignStore } from './port.ts'

/** Answers the campaign that was let go; null: there was none, only creates without a known end. */
export function forget(store: CampaignStore, key: string, at: number, by: string): string | null {
  const campaignId = store.binding(key)?.campaignId ?? null
  store.atomically(() => {
    for (const create of store.openCreates())
      if (create.key === key) store.end(create.id, 'not-sent', 'a person settled it', at)
    const row = { at, key, campaignId, action: 'forget', body: null, before: {}, by } as const
    store.end(store.begin(row), 'done', null, at)
    if (campaignId !== null) store.release(campaignId, key)
    // The next look says how the entry is now.
    const run = store.lastRun()
    if (run !== null)
      store.keepRun({ ...run, entries: run.entries.filter((one) => one.key !== key) })
  })
  return campaignId
}
