// The two steps of an attempt: get a form, and post the file with it. Neither step knows the history; what their
// results mean for a version is decided in pipeline/decide/sending.ts, and send-gate.ts decides what may be sent.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { failureOf, RULES } from '../domain/decision-table.ts'
import { SECOND } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { FormSource } from '../service/port.ts'
import { type FormFacts, readFormFacts } from './form.ts'
import type {
  Answered,
  Failure,
  NotAccepted,
  Parcel,
  Prepared,
  Sender,
  Sending,
  Tally,
} from './port.ts'
import { type PostParts, postFile } from './post.ts'
import type { NotSent } from './send-gate.ts'

export interface SenderParts extends PostParts {
  forms: FormSource
  log: Log
}

/** USUAL_RATE is what most lines reach, in bytes a second. It only decides whether a form lives long enough. */
const USUAL_RATE = 10 * 1024 * 1024

/** FORM_MARGIN is how much longer than the expected upload a form must live, in ms. */
const FORM_MARGIN = 5 * SECOND

/** Kept is what an attempt leaves for the next one of its version: a file that may be stored must not get a second key. */
interface Kept {
  id: number
  account: string | null
  form: FormFacts | null
  /** The last post failed: use another connection. */
  hasFailed: boolean
  /** Posts after whose last byte no answer came. */
  lostAnswers: number
}

export function createSender(parts: SenderParts): Sender {
  /** By feed: a feed has one version that is being sent. */
  const kept = new Map<string, Kept>()
  const keptFor = ({ account, feed, id }: Parcel): Kept => {
    const before = kept.get(feed)
    if (before?.id === id && before.account === account) return before
    const fresh = { id, account, form: null, hasFailed: false, lostAnswers: 0 }
    kept.set(feed, fresh)
    return fresh
  }
  return {
    prepare: (parcel, tally, signal) =>
      prepare(parts, { parcel, kept: keptFor(parcel), tally, signal }),
    post: (sending, tally, signal) =>
      post(parts, { ...sending, kept: keptFor(sending.parcel), tally, signal }),
    forget: (feed) => void kept.delete(feed),
  }
}

interface Preparing {
  parcel: Parcel
  kept: Kept
  tally: Tally
  signal: AbortSignal
}

async function prepare(parts: SenderParts, preparing: Preparing): Promise<Prepared> {
  const { gate } = parts
  const { kept, parcel, signal } = preparing
  if (signal.aborted) return { kind: 'aborted' }
  const closed = () =>
    parcel.isForced ? null : gate.closedFor(parcel.account, kept.form?.origin ?? null)
  const before = closed()
  if (before !== null) return untilProbe(parts, parcel, before)
  const form = await usableForm(parts, preparing)
  if (form.kind === 'aborted') return form
  if (form.kind === 'failed') {
    // Another attempt found the origin down while this one waited for its turn.
    if (form.failure.rule === RULES.waiting) return untilProbe(parts, parcel, form.failure)
    return notAccepted(parts, parcel, form.failure)
  }
  const unfit = outsidePolicy(parcel.bytes, form)
  if (unfit !== null) return notAccepted(parts, parcel, unfit)
  const after = closed()
  return after === null ? { kind: 'form', form } : untilProbe(parts, parcel, after)
}

function untilProbe({ clock, gate }: SenderParts, { account }: Parcel, failure: Failure): Prepared {
  const until = clock.now() + (failure.retryAfterMs ?? 0)
  return {
    kind: 'closed',
    failure,
    until: Math.max(until, gate.opensAt(failure.origin, account) ?? 0),
  }
}

function notAccepted({ gate }: SenderParts, { account }: Parcel, failure: Failure): NotAccepted {
  const hold = failure.class === 'credentials' ? gate.accounts.holdOf(account) : null
  return { kind: 'failed', failure, notBefore: gate.opensAt(failure.origin, account), hold }
}

/** usableForm returns the kept form if it lives long enough. Otherwise it asks for a new form, at most twice. */
async function usableForm(parts: SenderParts, preparing: Preparing): Promise<FormFacts | NotSent> {
  const { kept, parcel } = preparing
  const isShortLived = ({ expiresAt }: FormFacts) =>
    expiresAt !== null && expiresAt < neededUntil(parts, parcel.bytes)
  if (kept.form !== null && !isShortLived(kept.form)) return kept.form
  kept.form = null
  let form = await askForm(parts, preparing)
  if (form.kind === 'facts' && isShortLived(form)) form = await askForm(parts, preparing)
  if (form.kind !== 'facts') return form
  if (isShortLived(form)) {
    const { bytes, feed, id } = parcel
    parts.log.warn(
      { event: 'upload.form-short', id, feed, expiresAt: form.expiresAt, bytes },
      'the form may expire before the upload ends; it is used anyway',
    )
  }
  kept.form = form
  parts.gate.setStorageOf(parcel.account, form.origin)
  return form
}

/** neededUntil returns the time by the service's clock (wall ms) until which a form for this size must live. */
function neededUntil({ clock, forms, gate }: SenderParts, bytes: number): number {
  const now = clock.now() + (forms.clockSkewMs() ?? 0)
  const rate = Math.min(gate.bandwidth?.bytesPerSecond ?? USUAL_RATE, USUAL_RATE)
  return now + FORM_MARGIN + (bytes / rate) * SECOND
}

function askForm(
  { clock, forms, gate }: SenderParts,
  { parcel: { account, feed, isForced, path }, signal, tally }: Preparing,
): Promise<FormFacts | NotSent> {
  return gate.withBreaker(forms.origin, { account, feed, isForced }, async () => {
    const askedAt = clock.monotonic()
    const answer = await forms.requestForm(account, signal, path)
    if (answer.kind === 'form') {
      gate.accounts.accept(account, askedAt)
      return readFormFacts(answer.form)
    }
    if (signal.aborted) return { kind: 'aborted' }
    const { failure } = answer
    tally.status = failure.status
    if (failure.rule === RULES.credentials) gate.accounts.refuse(account, failure, askedAt)
    return { kind: 'failed', failure }
  })
}

async function post(
  parts: SenderParts,
  { form, kept, parcel, progress, signal, tally }: Preparing & Sending,
): Promise<Answered> {
  const { clock, gate, http } = parts
  const { account, bytes, feed, file, isForced, md5 } = parcel
  const { hasFailed: freshConnection, lostAnswers } = kept
  const what = { file, bytes, md5, progress, facts: form, freshConnection, lostAnswers }
  const result = await gate.withBreaker(form.origin, { account, feed, isForced }, () =>
    postFile({ clock, gate, http }, what, tally, signal),
  )
  if (result.kind === 'stored') return { ...result, fileUrl: form.fileUrl }
  kept.hasFailed = true
  if (result.kind === 'aborted') return result
  const { rule } = result.failure
  if (rule.freshForm) kept.form = null
  if (rule === RULES.lostAfterBody) kept.lostAnswers += 1
  if (rule !== RULES.digestDiffers) return notAccepted(parts, parcel, result.failure)
  // If the copy cannot be read now, the next attempt reports it.
  const isChanged = (await md5Of(file).catch(() => md5)) !== md5
  return notAccepted(parts, parcel, isChanged ? spoolDiffers() : result.failure)
}

/** outsidePolicy returns why the form does not allow a file of this size, or null. */
function outsidePolicy(bytes: number, { sizes }: FormFacts): Failure | null {
  const [min, max] = sizes ?? [0, Number.POSITIVE_INFINITY]
  if (bytes >= min && bytes <= max) return null
  const isLarge = bytes > max
  const limit = isLarge ? `takes at most ${max} bytes` : `needs at least ${min} bytes`
  return failureOf(isLarge ? RULES.largerThanForm : RULES.smallerThanForm, {
    code: isLarge ? 'file-too-large' : 'file-too-small',
    reason: `the file has ${bytes} bytes, and the upload form ${limit}; nothing was sent`,
  })
}

function spoolDiffers(): Failure {
  return failureOf(RULES.spoolChanged, {
    code: 'spool-changed',
    reason: 'the copy of the file in the state directory has changed since it was checked',
  })
}

async function md5Of(path: string): Promise<string> {
  const hash = createHash('md5')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
