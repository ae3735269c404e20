// Ends the binding of an entry at a person's command. Nothing is sent.

import type { CampaignStore } from './port.ts'

/** forget returns the id of the campaign that it released; null: the key had only creates whose result is not known. */
export function forget(store: CampaignStore, key: string, at: number, by: string): string | null {
  const campaignId = store.binding(key)?.campaignId ?? null
  store.atomically(() => {
    for (const create of store.openCreates())
      if (create.key === key) store.end(create.id, 'not-sent', 'a person ran forget', at)
    const row = { at, key, campaignId, action: 'forget', body: null, before: {}, by } as const
    store.end(store.begin(row), 'done', null, at)
    if (campaignId !== null) store.release(campaignId, key)
    // The stored state is out of date; the next look finds the new one.
    const run = store.lastRun()
    if (run !== null)
      store.keepRun({ ...run, entries: run.entries.filter((one) => one.key !== key) })
  })
  return campaignId
}
