// Sends the targeting of bound entries when the file changes. The daemon changes nothing else on the service: it has no
// other call.

import type { Clock } from '../lib/clock.ts'
import { changesOf } from './changes.ts'
import type { Entry } from './desired.ts'
import { shownValue } from './fields.ts'
import { reasonNotToWrite } from './judge.ts'
import type { Binding, CampaignStore, TargetingApi } from './port.ts'
import { isDaemons } from './sent.ts'
import type { Campaign } from './service/port.ts'
import { doubtAbout, type ManagedFile, take } from './taken.ts'
import { isSame, wholeTargeting } from './targeting.ts'
import { beginWriting, type Result, update } from './write.ts'

export interface SyncParts {
  api: TargetingApi
  store: CampaignStore
  clock: Pick<Clock, 'now' | 'sleep'>
  identity: string
  by: string
  /** isCurrent returns whether the file is still as it was read. It is called before each write. */
  isCurrent: () => boolean
}

/** sync sends the targetings that are due, under the writer lock. `abort` also ends a request that runs at `stop`. */
export async function sync(
  parts: SyncParts,
  file: ManagedFile,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<Result[]> {
  if (doubtAbout(file, parts.store) !== null) return []
  take(parts.store, file)
  beginWriting(parts)
  const results: Result[] = []
  for (const entry of file.entries) {
    if (stop.aborted || !parts.isCurrent()) break
    const bound = parts.store.binding(entry.key)
    if (bound === null || !isDue(entry, bound, parts.clock.now())) continue
    const result = await syncOne(parts, entry, bound, abort)
    if (result !== null) results.push(result)
    // The service would refuse the other campaigns, too.
    if (result?.isLimited) break
  }
  return results
}

/** isDue returns whether a targeting must be sent: it changed in the file, or a repeat is due. Never the first one. */
function isDue({ targeting, campaignId }: Entry, bound: Binding, now: number): boolean {
  if (targeting === null || bound.sent.targeting === null) return false
  if (campaignId !== null && campaignId !== bound.campaignId) return false
  if (!isDaemons(targeting)) return false
  const isRepeated = bound.repeatAt !== null && bound.repeatAt <= now
  return isRepeated || !isSame(targeting, bound.sent.targeting)
}

/** syncOne sends the targeting of one entry; null: a person has to apply the entry. */
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
    const failed = {
      action: 'update',
      outcome: 'not-sent',
      reason: read.reason,
      isLimited,
    } as const
    return { key, campaignId, ...failed }
  }
  const campaign = read.value
  const mayDaemonWrite = (now: Campaign) => {
    if (reasonNotToWrite(identity, key, bound, now) !== null) return false
    if (typeof shownValue(now, 'budget') !== 'number') return false
    // A wider targeting could spend more before `apply` lowers the budget, so `apply` sends all changes together.
    const others = changesOf(entry, now, bound).filter(({ field }) => field !== 'targeting')
    return others.every(({ field }) => field === 'name')
  }
  if (targeting === null || !mayDaemonWrite(campaign)) return null
  const mayRepeat = (now: Campaign) => parts.isCurrent() && mayDaemonWrite(now)
  const sent = wholeTargeting(targeting)
  const put = (abort: AbortSignal) => api.putTargeting(campaignId, sent, abort)
  const get = (id: string, abort: AbortSignal) => api.get(id, abort)
  return update(
    { ...parts, actor: 'daemon', signal, get, mayRepeat },
    put,
    bound,
    { targeting: sent },
    campaign,
  )
}
