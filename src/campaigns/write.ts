// Sends updates to the service. Each one writes a row, sends the request, reads the campaign by id, and ends the row.
// After a crash at any point, the row shows that a request was sent.

import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import { isEchoOf } from './echo.ts'
import { type Field, rawOf } from './fields.ts'
import { LATE_MS } from './open-create.ts'
import type { Actor, Binding, CampaignStore, Outcome } from './port.ts'
import { compareWithSent, wireOfSent, withWriteBegun, withWriteDone } from './sent.ts'
import type { Campaign, CampaignAnswer, CampaignCreate, CampaignUpdate } from './service/port.ts'
import { canonical, isSame } from './targeting.ts'

export interface WriteParts {
  store: CampaignStore
  clock: Pick<Clock, 'now' | 'sleep'>
  /** The person or daemon that writes, for the history. */
  actor: Actor
  by: string
  signal: AbortSignal
  get: (id: string, signal: AbortSignal) => Promise<CampaignAnswer<Campaign>>
  /** mayRepeat returns whether the file is unchanged and the campaign, as just read, may still be written. */
  mayRepeat: (campaign: Campaign) => boolean
}

/** Result says how a write ended. */
export interface Result {
  key: string
  campaignId: string | null
  action: 'bind' | 'create' | 'update'
  outcome: 'done' | 'stale' | Exclude<Outcome, 'sending'>
  reason: string | null
  /** The service answers "later" or refuses the credentials, so it would refuse other writes, too. */
  isLimited?: boolean
}

const TRIES = 2

export const isLimited = ({ kind, ...answer }: CampaignAnswer<unknown>): boolean =>
  'class' in answer &&
  (answer.class === 'credentials' || (answer.class === 'temporary' && answer.status !== null))

/**
 * beginWriting prepares the database for writes: it renews the mark that shows a restored copy, and ends the rows of a
 * process that died as `unknown`. The caller holds the writer lock.
 */
export function beginWriting({
  store,
  clock,
}: Pick<WriteParts, 'store'> & { clock: Pick<Clock, 'now'> }): void {
  store.renewMark()
  for (const { id } of store.sending())
    store.end(id, 'unknown', 'the process ended while it sent the request', clock.now())
}

/** beginCreate records that a person's create is about to be sent, and returns the id of its row. */
export function beginCreate(
  { store, clock, by }: Pick<WriteParts, 'store' | 'by'> & { clock: Pick<Clock, 'now'> },
  key: string,
  body: CampaignCreate,
): number {
  const row = { key, campaignId: null, action: 'create', body, before: {} } as const
  return store.begin({ ...row, at: clock.now(), actor: 'person', by })
}

/**
 * update sends a body to a campaign that was just read, and reads the campaign by id afterwards. `put` sends the body
 * once. If the campaign is unchanged after the first try, update sends the body a second time.
 */
export async function update(
  parts: WriteParts,
  put: (signal: AbortSignal) => Promise<CampaignAnswer<Campaign>>,
  bound: Binding,
  body: CampaignUpdate,
  campaign: Campaign,
): Promise<Result> {
  const { store, clock, actor, by, signal, get, mayRepeat } = parts
  const { key, campaignId } = bound
  const isTargeted = body.targeting !== undefined
  const before = shownFields(campaign, body)
  const wasRepeat = bound.repeatAt !== null
  // If the campaign had these values before, reading them afterwards does not prove that our write arrived.
  const wasThere = compareWithSent(campaign, body).mismatched.length === 0
  const result = (outcome: Result['outcome'], reason: string | null, isEnd = false): Result => ({
    key,
    campaignId,
    action: 'update',
    outcome,
    reason,
    isLimited: isEnd,
  })
  let isUnclear = false
  for (let n = 1; ; n++) {
    const at = clock.now()
    const begun = withWriteBegun(bound, body, at)
    const id = store.atomically(() => {
      store.save(begun)
      const row = { at, key, campaignId, action: 'update', body, actor, by } as const
      return store.begin({ ...row, before: valuesBefore(bound, campaign, body) })
    })
    const answer = await put(signal)
    const end = (outcome: Outcome, reason: string | null, binding: Binding, repeats = false) =>
      store.atomically(() => {
        store.end(id, outcome, reason, clock.now())
        const repeatAt = isTargeted ? repeatAtOf(parts, campaignId, repeats) : binding.repeatAt
        store.save({ ...binding, repeatAt })
      })
    if (answer.kind === 'failure' && answer.effect !== 'unknown') {
      // An earlier try without an answer may have arrived.
      end(answer.effect, answer.reason, isUnclear ? begun : bound)
      return result(answer.effect, answer.reason, isLimited(answer))
    }
    const read = await get(campaignId, signal)
    const lost = answer.kind === 'failure' ? answer.reason : null
    if (read.kind === 'failure') {
      const reason =
        lost ?? `the service accepted it, but reading it afterwards failed: ${read.reason}`
      end('unknown', reason, begun)
      return result('unknown', reason, isLimited(answer) || isLimited(read))
    }
    const after = read.value
    const { mismatched, hidden } = compareWithSent(after, body)
    if (mismatched.length === 0 && (lost === null || (hidden.length === 0 && !wasThere))) {
      const kept = withWriteDone(bound, body)
      const binding = isTargeted
        ? { ...kept, shown: shownTargeting(after, body) ?? kept.shown }
        : kept
      end('done', lost === null ? null : 'seen on the service afterwards', binding)
      return result('done', null)
    }
    const { echo, reason } = describeMismatch(bound, body, [campaign, after], mismatched, lost)
    isUnclear ||= lost !== null
    const repeats = lost === null && echo === null && !wasRepeat && mismatched.includes('targeting')
    end(lost === null ? 'not-as-sent' : 'unknown', reason, echo ?? begun, repeats)
    const isUnchanged = JSON.stringify(shownFields(after, body)) === JSON.stringify(before)
    if (n === TRIES || !isUnchanged || !mayRepeat(after) || signal.aborted)
      return result(lost === null ? 'not-as-sent' : 'unknown', reason, isLimited(answer))
    const wait = answer.kind === 'failure' ? (answer.retryAfterMs ?? SECOND) : SECOND
    if (wait > MINUTE) return result('unknown', reason, isLimited(answer))
    await clock.sleep(wait, signal)
  }
}

/**
 * describeMismatch returns the reason to report if the service does not show a write as we sent it. `echo` is the new
 * binding if the service shows our targeting in its own form, which appeared with this write or an earlier one.
 */
function describeMismatch(
  bound: Binding,
  body: CampaignUpdate,
  [before, after]: readonly [Campaign, Campaign],
  mismatched: readonly string[],
  lost: string | null,
) {
  const raw = rawOf(after, 'targeting')
  const of = canonical(body.targeting ?? {})
  const is = JSON.stringify(raw ?? null)
  const isNew = is !== JSON.stringify(rawOf(before, 'targeting') ?? null)
  const isKnown = bound.shown !== null && isSame(bound.shown.of, of) && bound.shown.is === is
  const isEcho =
    (isNew || isKnown) && isEchoOf(raw, of) && mismatched.includes('targeting') && lost === null
  const { targeting } = body
  const echo = isEcho ? { ...withWriteDone(bound, { targeting }), shown: { of, is } } : null
  const shows = `the service accepted it, but shows another ${mismatched.join(', ')}`
  return { echo, reason: lost ?? shows }
}

/** repeatAtOf returns when to repeat a targeting: an hour after an unclear write, which can arrive until then. */
function repeatAtOf({ store, clock }: WriteParts, campaignId: string, repeats: boolean) {
  const now = clock.now()
  const unclear = store.unclearSince(campaignId, now - LATE_MS)
  return unclear !== null ? unclear + LATE_MS : repeats ? now + LATE_MS : null
}

/** valuesBefore returns the current values of a body's fields, as far as they are known. */
export function valuesBefore(
  { sent }: Pick<Binding, 'sent'>,
  campaign: Campaign,
  body: object,
): Record<string, unknown> {
  const known = wireOfSent(sent)
  const values = Object.keys(body).map((field) => {
    const shown = rawOf(campaign, field as Field)
    return [field, shown === undefined ? known[field] : shown] as const
  })
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** shownTargeting returns how a campaign shows the targeting that we just sent; null: it shows none. */
function shownTargeting(campaign: Campaign, { targeting = {} }: CampaignUpdate): Binding['shown'] {
  const raw = rawOf(campaign, 'targeting')
  return raw === undefined ? null : { of: canonical(targeting), is: JSON.stringify(raw) }
}

/** shownFields returns the fields of a body as a campaign shows them. */
function shownFields(campaign: Campaign, body: object): Record<string, unknown> {
  const fields = Object.keys(body) as (keyof typeof body)[]
  return Object.fromEntries(fields.map((field) => [field, rawOf(campaign, field) ?? null]))
}
