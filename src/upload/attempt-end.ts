// Owns what the end of an attempt says: to the breaker of its origin, to the record of the attempt, and for
// the failures that are found on this side of the network. Pure, but for reading the spool.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { failureOf, RULES, type Rule, type Verdict } from '../lib/decision-table.ts'
import { stretchOf } from '../lib/stretch.ts'
import type { Breaker, Lesson } from './breaker.ts'
import type { FormFacts } from './form.ts'
import type { AttemptOutcome, DeliveryResult } from './port.ts'

export type NotStored = { kind: 'failed'; verdict: Verdict } | { kind: 'aborted' }
export type Attempt = Extract<DeliveryResult, { kind: 'stored' }> | NotStored

/** These pass with another form, and say nothing of the health of who answers so. */
const ABOUT_THE_FORM: ReadonlySet<Rule> = new Set([RULES.policyExpired, RULES.formTokenGone])

const THROTTLED: ReadonlySet<Rule> = new Set([RULES.throttled, RULES.noFormThrottled])

export function isThrottled(rule: Rule): boolean {
  return THROTTLED.has(rule)
}

export function lessonOf(result: { kind: string } | NotStored): Lesson {
  if (result.kind === 'aborted') return { kind: 'nothing' }
  if (!('verdict' in result)) return { kind: 'up' }
  const { failure, rule } = result.verdict
  if (failure.origin === null) return { kind: 'nothing' }
  const { class: kind, reason, retryAfterMs } = failure
  return kind === 'transient' && !ABOUT_THE_FORM.has(rule)
    ? { kind: 'down', reason, retryAfterMs, throttled: isThrottled(rule) }
    : { kind: 'up' }
}

/** `attempt` is null when an error of this program ended it. */
export function outcomeOf(attempt: Attempt | null, bytesSent: number): AttemptOutcome {
  if (attempt?.kind === 'stored') return 'stored'
  if (attempt?.kind !== 'failed') return bytesSent > 0 ? 'unknown' : 'failed'
  const { class: kind, status, ambiguous } = attempt.verdict.failure
  if (ambiguous) return 'unknown'
  const refused = kind === 'file' || (kind !== 'transient' && status !== null && status >= 400)
  return refused ? 'refused' : 'failed'
}

export function codeOf(attempt: Attempt | null): string | null {
  if (attempt === null) return 'internal'
  if (attempt.kind === 'stored') return null
  return attempt.kind === 'aborted' ? 'aborted' : attempt.verdict.failure.code
}

export function waitingFor(origin: string, breaker: Breaker): Verdict {
  const because = breaker.health().reason
  return failureOf(RULES.waiting, {
    code: 'endpoint-down',
    reason: `${origin} is not asked until its next probe${because === null ? '' : `: ${because}`}`,
    origin,
    retryAfterMs: breaker.waitMs(),
  })
}

export function outsidePolicy(bytes: number, { minBytes, maxBytes }: FormFacts): Verdict {
  const limit =
    bytes > maxBytes ? `takes at most ${maxBytes} bytes` : `needs at least ${minBytes} bytes`
  return failureOf(RULES.sizeOutsidePolicy, {
    code: bytes > maxBytes ? 'file-too-large' : 'file-too-small',
    reason: `the file has ${bytes} bytes, and the upload form ${limit}; nothing was sent`,
  })
}

export function spoolDiffers(): Verdict {
  return failureOf(RULES.spoolChanged, {
    code: 'spool-changed',
    reason: 'the copy of the file in the state directory is no longer what was checked',
  })
}

/** Of a file, or of its stretch of one. */
export async function md5Of(path: string): Promise<string> {
  const { file, from, bytes } = stretchOf(path)
  const hash = createHash('md5')
  const end = bytes === null ? undefined : from + bytes - 1
  await pipeline(createReadStream(file, { start: from, end }), hash)
  return hash.digest('hex')
}

/** The same failure, which is nothing that a retry of this feed by a person could mend. */
export function refusedInGeneral({ failure }: Verdict): Verdict {
  return failureOf(RULES.refusesAll, {
    ...failure,
    ...{ class: RULES.refusesAll.class, hint: RULES.refusesAll.hint },
    reason: `one feed after the other is refused: ${failure.reason}`,
  })
}
