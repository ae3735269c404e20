// What the daemon does to campaigns: it keeps the targeting of bound entries as the file has it, and changes nothing
// else. It is given no other call of the service.

import type { Clock } from '../lib/clock.ts'
import type { Campaign } from '../service/port.ts'
import type { Entry } from './desired.ts'
import { changesOf } from './diff.ts'
import { shownValue } from './fields.ts'
import { reasonNotToWrite } from './judge.ts'
import type { Binding, CampaignStore, TargetingApi } from './port.ts'
import { isSame, wholeTargeting } from './targeting.ts'
import { beginWriting, type Result, update } from './write.ts'

export interface SyncParts {
  api: TargetingApi
  store: CampaignStore
  clock: Pick<Clock, 'now' | 'sleep'>
  identity: string
  by: string
  /** The file is still as it was read; asked before each write. */
  isCurrent: () => boolean
}

/** Only under the lock of the writers. Nothing new is sent after `stop`; `abort` ends what is being sent. */
export async function sync(
  parts: SyncParts,
  entries: readonly Entry[],
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<Result[]> {
  beginWriting(parts)
  const results: Result[] = []
  for (const entry of entries) {
    if (stop.aborted || !parts.isCurrent()) break
    const bound = parts.store.binding(entry.key)
    if (bound === null || !isDue(entry, bound, parts.clock.now())) continue
    const result = await syncOne(parts, entry, bound, abort)
    if (result !== null) results.push(result)
    // The other campaigns fare no better for now.
    if (result?.isLimited) break
  }
  return results
}

/** The file says otherwise than was sent last, or that is to be repeated. The first targeting is a person's. */
function isDue({ targeting, campaignId }: Entry, bound: Binding, now: number): boolean {
  if (targeting === null || bound.sent.targeting === null) return false
  if (campaignId !== null && campaignId !== bound.campaignId) return false
  const isRepeated = bound.repeatAt !== null && bound.repeatAt <= now
  return isRepeated || !isSame(targeting, bound.sent.targeting)
}

/** null: it is left to a person, as the plan says. */
async function syncOne(
  parts: SyncParts,
  entry: Entry,
  bound: Binding,
  signal: AbortSignal,
): Promise<Result | null> {
  const { api, identity } = parts
  const { key, targeting } = entry
  const { campaignId } = bound
  const read = await api.get(campaignId, signal)
  if (read.kind === 'failure') {
    if (read.class === 'missing') return null
    const isLimited = read.class === 'temporary' || read.class === 'credentials'
    const told = { action: 'update', outcome: 'not-sent', reason: read.reason, isLimited } as const
    return { key, campaignId, ...told }
  }
  const campaign = read.value
  const mayDaemonWrite = (now: Campaign) => {
    if (reasonNotToWrite(identity, key, bound, now) !== null) return false
    if (typeof shownValue(now, 'budget') !== 'number') return false
    // A wider targeting under a budget that the file lowers would spend more: the campaign is left whole to `apply`.
    const others = changesOf(entry, now, bound).filter(({ field }) => field !== 'targeting')
    return others.every(({ field }) => field === 'name')
  }
  if (targeting === null || !mayDaemonWrite(campaign)) return null
  const mayRepeat = (now: Campaign) => parts.isCurrent() && mayDaemonWrite(now)
  const sent = wholeTargeting(targeting)
  const put = (abort: AbortSignal) => api.putTargeting(campaignId, sent, abort)
  const get = (id: string, abort: AbortSignal) => api.get(id, abort)
  return update({ ...parts, signal, get, mayRepeat }, put, bound, { targeting: sent }, campaign)
}
