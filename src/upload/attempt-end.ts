// Owns what the history records of the end of an attempt, and the failures that are found on this host.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { failureOf, RULES, type Verdict } from '../lib/decision-table.ts'
import type { FormFacts } from './form.ts'
import type { AttemptOutcome, DeliveryResult } from './port.ts'
import type { NotSent } from './send-gate.ts'

export type Attempt = Extract<DeliveryResult, { kind: 'stored' }> | NotSent

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

export async function md5Of(path: string): Promise<string> {
  const hash = createHash('md5')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
