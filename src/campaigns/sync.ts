// Sends the targeting of bound entries when the file changes. The daemon changes nothing else on the service: it has no
// other call.

import type { ManagedFile } from './campaigns-file.ts'
import type { Entry } from './desired.ts'
import { changesOf } from './field-changes.ts'
import { shownValue } from './fields.ts'
import { markOf } from './mark.ts'
import type { Binding, TargetingApi } from './port.ts'
import type { LookSignals } from './schedule.ts'
import { mayDaemonSend } from './sent.ts'
import type { Campaign } from './service/port.ts'
import { isSame, wholeTargeting } from './targeting.ts'
import { recordUsed, whyNotUsed } from './used-file.ts'
import { whyNotWrite } from './why-not-write.ts'
import { type UpdateTools, update, type WriteResult } from './write.ts'

export interface SyncTools extends UpdateTools {
  api: TargetingApi
  /** The identity of the account; marks are made from it. */
  identity: string
}

/**
 * sync sends the targetings that are due, and records the file as used. It sends nothing if the file might be cut. The
 * caller holds the writer lock. After `stop` nothing new is sent; `abort` also ends a running request.
 */
export async function sync(
  file: ManagedFile,
  tools: SyncTools,
  { stop, abort }: LookSignals,
): Promise<WriteResult[]> {
  const { store, clock, recorder, isCurrent } = tools
  if (whyNotUsed(file, store) !== null) return []
  recordUsed(store, file)
  recorder.prepare()
  const results: WriteResult[] = []
  for (const entry of file.entries) {
    if (stop.aborted || !isCurrent()) break
    const bound = store.binding(entry.key)
    if (bound === null || !isDue(entry, bound, clock.now())) continue
    const result = await syncOne({ entry, bound }, tools, abort)
    if (result !== null) results.push(result)
    // The service would refuse the other campaigns, too.
    if (result?.isLimited) break
  }
  return results
}

/**
 * isDue returns whether a targeting changed in the file, or must be sent again. The first targeting of a campaign is
 * never due, because a person applies it.
 */
function isDue({ targeting, campaignId }: Entry, bound: Binding, now: number): boolean {
  if (targeting === null || bound.sent.targeting === null) return false
  if (campaignId !== null && campaignId !== bound.campaignId) return false
  if (!mayDaemonSend(targeting)) return false
  const isRepeated = bound.repeatAt !== null && bound.repeatAt <= now
  return isRepeated || !isSame(targeting, bound.sent.targeting)
}

/** syncOne sends the targeting of one entry. It returns null if a person has to apply the entry. */
async function syncOne(
  { entry, bound }: { entry: Entry; bound: Binding },
  { identity, ...tools }: SyncTools,
  signal: AbortSignal,
): Promise<WriteResult | null> {
  const { api } = tools
  const { key, targeting } = entry
  const { campaignId } = bound
  const read = await api.get(campaignId, signal)
  if (read.kind === 'failure') {
    if (read.class === 'missing') return null
    const isLimited = read.class === 'temporary' || read.class === 'credentials'
    const { reason } = read
    return { key, campaignId, action: 'update', outcome: 'not-sent', reason, isLimited }
  }
  const campaign = read.value
  const ours = markOf(identity, key)
  const mayWrite = (now: Campaign) => {
    if (whyNotWrite(now, { ours, campaignId, bound }) !== null) return false
    if (typeof shownValue(now, 'budget') !== 'number') return false
    // A wider targeting could spend more before `apply` lowers the budget, so `apply` sends all changes together.
    const others = changesOf(entry, now, bound).filter(({ field }) => field !== 'targeting')
    return others.every(({ field }) => field === 'name')
  }
  if (targeting === null || !mayWrite(campaign)) return null
  const sent = wholeTargeting(targeting)
  const put = () => api.putTargeting(campaignId, sent, signal)
  return update({ bound, campaign, body: { targeting: sent }, put, mayWrite }, tools, signal)
}
