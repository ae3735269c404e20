// Sends updates to the service. Each one writes a row, sends the request, reads the campaign by id, and ends the row.

import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import { isEchoOf } from './echo.ts'
import { type CampaignField, rawOf } from './fields.ts'
import { LATE_MS } from './open-creation.ts'
import type {
  Binding,
  CampaignStore,
  KnownCampaign,
  TargetingApi,
  WriteEnding,
  WriteOutcome,
} from './port.ts'
import type { Recorder } from './recorder.ts'
import { compareWithSent, wireOfSent, withWriteBegun, withWriteDone } from './sent.ts'
import type { Campaign, CampaignAnswer, CampaignUpdate } from './service/port.ts'
import { canonical, isSame } from './targeting.ts'

/** WriteResult says how a write ended. */
export interface WriteResult {
  key: string
  campaignId: string | null
  action: 'bind' | 'create' | 'update'
  /** `stale` means that nothing was sent, because the file or the campaign is not as it was planned. */
  outcome: 'done' | 'stale' | Exclude<WriteOutcome, 'sending'>
  reason: string | null
  /** True if the service answered "later" or refused the credentials: it would refuse other writes, too. */
  isLimited?: boolean
}

const TRIES = 2

export const isLimited = ({ kind, ...answer }: CampaignAnswer<unknown>): boolean =>
  'class' in answer &&
  (answer.class === 'credentials' || (answer.class === 'temporary' && answer.status !== null))

/** UpdateOrder is one update of a campaign that was just read. */
interface UpdateOrder {
  bound: Binding
  /** The campaign as it was read. */
  campaign: Campaign
  body: CampaignUpdate
  /** put sends the body once. */
  put: () => Promise<CampaignAnswer<Campaign>>
  /** mayWrite returns whether the campaign, as read again, may still be written. */
  mayWrite: (campaign: Campaign) => boolean
}

export interface UpdateTools {
  api: Pick<TargetingApi, 'get'>
  store: CampaignStore
  clock: Clock
  recorder: Recorder
  /**
   * isCurrent is called before each write, and returns whether the file is still as it was read. While a person paused
   * sending, it is false for the daemon. Throws `FeedsyncError` (75) if the writer lock is lost.
   */
  isCurrent: () => boolean
}

/**
 * update sends a body, and reads the campaign by id afterwards. If the campaign is unchanged after the first try,
 * update sends the body a second time.
 */
export async function update(
  { bound, campaign, body, put, mayWrite }: UpdateOrder,
  { api, store, clock, recorder, isCurrent }: UpdateTools,
  signal: AbortSignal,
): Promise<WriteResult> {
  const { key, campaignId } = bound
  const isTargeted = body.targeting !== undefined
  const before = shownFields(campaign, body)
  const wasRepeat = bound.repeatAt !== null
  // If the campaign had these values before, reading them afterwards does not prove that our write arrived.
  const hadValues = compareWithSent(campaign, body).mismatched.length === 0
  const result = (ended: Omit<WriteResult, 'key' | 'campaignId' | 'action'>): WriteResult => {
    return { key, campaignId, action: 'update', isLimited: false, ...ended }
  }
  /** True after a try whose result is not known. */
  let isUnclear = false
  for (let n = 1; ; n++) {
    const begun = withWriteBegun(bound, body, clock.now())
    const id = store.atomically(() => {
      store.save(begun)
      const write = { key, campaignId, action: 'update', body } as const
      return recorder.begin({ ...write, before: valuesBefore(bound, campaign, body) })
    })
    const answer = await put()
    /** end ends the row, and saves the binding with the time of its next repeat. */
    const end = ({ binding, repeats = false, ...ending }: UpdateEnd) =>
      store.atomically(() => {
        recorder.end(id, ending)
        const later = repeats ? clock.now() + LATE_MS : null
        const repeatAt = isTargeted
          ? (unclearUntil(store, campaignId, clock.now()) ?? later)
          : binding.repeatAt
        store.save({ ...binding, repeatAt })
      })
    if (answer.kind === 'failure' && answer.effect !== 'unknown') {
      const { effect: outcome, reason } = answer
      // An earlier try without an answer might have arrived.
      end({ outcome, reason, binding: isUnclear ? begun : bound })
      return result({ outcome, reason, isLimited: isLimited(answer) })
    }
    const read = await api.get(campaignId, signal)
    const whyUnclear = answer.kind === 'failure' ? answer.reason : null
    if (read.kind === 'failure') {
      const reason =
        whyUnclear ?? `the service accepted it, but reading it afterwards failed: ${read.reason}`
      end({ outcome: 'unknown', reason, binding: begun })
      return result({
        outcome: 'unknown',
        reason,
        isLimited: isLimited(answer) || isLimited(read),
      })
    }
    const after = read.value
    const { mismatched, hidden } = compareWithSent(after, body)
    const isProven = whyUnclear === null || (hidden.length === 0 && !hadValues)
    if (mismatched.length === 0 && isProven) {
      const kept = withWriteDone(bound, body)
      const binding = isTargeted
        ? { ...kept, shown: shownTargeting(after, body) ?? kept.shown }
        : kept
      const reason = whyUnclear === null ? null : 'seen on the service afterwards'
      end({ outcome: 'done', reason, binding })
      return result({ outcome: 'done', reason: null })
    }
    const isOtherTargeting = whyUnclear === null && mismatched.includes('targeting')
    const echo = isOtherTargeting ? echoOf({ bound, body, before: campaign, after }) : null
    const reason =
      whyUnclear ?? `the service accepted it, but shows another ${mismatched.join(', ')}`
    const outcome = whyUnclear === null ? 'not-as-sent' : 'unknown'
    isUnclear ||= whyUnclear !== null
    const repeats = isOtherTargeting && echo === null && !wasRepeat
    end({ outcome, reason, binding: echo ?? begun, repeats })
    const isUnchanged = JSON.stringify(shownFields(after, body)) === JSON.stringify(before)
    const mayRepeat = n < TRIES && isUnchanged && isCurrent() && mayWrite(after) && !signal.aborted
    if (!mayRepeat) return result({ outcome, reason, isLimited: isLimited(answer) })
    const wait = answer.kind === 'failure' ? (answer.retryAfterMs ?? SECOND) : SECOND
    if (wait > MINUTE) return result({ outcome: 'unknown', reason, isLimited: isLimited(answer) })
    await clock.sleep(wait, signal)
  }
}

interface UpdateEnd extends Omit<WriteEnding, 'at' | 'campaignId'> {
  binding: Binding
  /**
   * True if the service shows another targeting, perhaps an older one: the daemon sends ours once more after an hour.
   */
  repeats?: boolean
}

/**
 * echoOf returns the binding after a write, if the service shows our targeting in a form of its own. This form must be
 * new since the write, or known from an earlier write. Else echoOf returns null.
 */
function echoOf({
  bound,
  body: { targeting = {} },
  before,
  after,
}: {
  bound: Binding
  body: CampaignUpdate
  before: Campaign
  after: Campaign
}): Binding | null {
  const raw = rawOf(after, 'targeting')
  const sent = canonical(targeting)
  const text = JSON.stringify(raw ?? null)
  const isNew = text !== JSON.stringify(rawOf(before, 'targeting') ?? null)
  const { shown } = bound
  const isKnown = shown !== null && isSame(shown.targeting, sent) && shown.text === text
  if (!(isNew || isKnown) || !isEchoOf(raw, sent)) return null
  return { ...withWriteDone(bound, { targeting }), shown: { targeting: sent, text } }
}

/**
 * unclearUntil returns the wall ms from which the newest targeting write with an unknown result can no longer arrive;
 * null if there is no such write.
 */
function unclearUntil(store: CampaignStore, campaignId: string, now: number): number | null {
  const unclear = store.unclearSince(campaignId, now - LATE_MS)
  return unclear === null ? null : unclear + LATE_MS
}

/** valuesBefore returns the current values of a body's fields in the form of the service, as far as they are known. */
export function valuesBefore(
  { sent }: KnownCampaign,
  campaign: Campaign,
  body: object,
): Record<string, unknown> {
  const known = wireOfSent(sent)
  const values = Object.keys(body).map((field) => {
    const shown = rawOf(campaign, field as CampaignField)
    return [field, shown === undefined ? known[field] : shown] as const
  })
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** shownTargeting returns how a campaign shows the targeting that we just sent; null if it shows none. */
function shownTargeting(campaign: Campaign, { targeting = {} }: CampaignUpdate): Binding['shown'] {
  const raw = rawOf(campaign, 'targeting')
  return raw === undefined ? null : { targeting: canonical(targeting), text: JSON.stringify(raw) }
}

/** shownFields returns the fields of a body as a campaign shows them. */
function shownFields(campaign: Campaign, body: object): Record<string, unknown> {
  const fields = Object.keys(body) as (keyof typeof body)[]
  return Object.fromEntries(fields.map((field) => [field, rawOf(campaign, field) ?? null]))
}
