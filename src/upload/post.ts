// Posts one file with one form: the body from the spool, the time limits, the bandwidth and at most one redirect. It
// returns the result; pipeline/decide/sending.ts decides about another attempt.

import { readFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { stateCondition } from '../domain/conditions.ts'
import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import { type Clock, HOUR, MINUTE, SECOND } from '../lib/clock.ts'
import { errorCode } from '../lib/errors.ts'
import type { HttpClient } from '../lib/http.ts'
import { formatDuration } from '../lib/units.ts'
import { judgeNoAnswer, judgeReply } from './classify.ts'
import type { Confirmation } from './confirmation.ts'
import type { FormFacts } from './form.ts'
import { createMultipartBody } from './multipart.ts'
import type { Parcel, Sending, Tally } from './port.ts'
import type { SendGate } from './send-gate.ts'

export interface PostParts {
  http: HttpClient
  clock: Clock
  gate: SendGate
}

/**
 * STALL_MS ends a post after this long without a sent byte. The system buffers up to 4 MB; a line of SLOW_LINE sends them
 * in time.
 */
const STALL_MS = 5 * MINUTE
/** SLOW_LINE is the slowest line that is waited for, in bytes a second. */
const SLOW_LINE = 14_000
/** LONGEST_ANSWER_WAIT is in ms: a feed that needs longer would be overtaken by the one of the next day. */
const LONGEST_ANSWER_WAIT = 12 * HOUR
/** ANSWER_PAUSE_MS limits the time between two pieces of storage's answer. */
const ANSWER_PAUSE_MS = MINUTE

export interface Post extends Pick<Parcel, 'file' | 'bytes' | 'md5'>, Pick<Sending, 'progress'> {
  facts: FormFacts
  /** True after a failed post: use a new connection. */
  freshConnection: boolean
  /** See `answerWaitMs`. */
  lostAnswers: number
}

/**
 * answerWaitMs returns how long storage may take to answer after the last byte, in ms. A proxy may take the whole file
 * at once and send it on over a slow line, or look at it for viruses. `lostAnswers` is how many attempts to send this
 * file ended without an answer after its last byte: each one doubles the wait.
 */
export function answerWaitMs(bytes: number, lostAnswers: number): number {
  const onceMs = STALL_MS + (bytes / SLOW_LINE) * SECOND
  return Math.min(onceMs * 2 ** lostAnswers, LONGEST_ANSWER_WAIT)
}

export type PostResult = Confirmation | { kind: 'aborted' }

/** Files up to SMALL bytes are read at once in this thread: from the cache, this is faster than in another thread. */
const SMALL = 256 * 1024

/** MAX_ANSWER limits the kept part of an answer, in bytes; an error document is below 2 kB. */
const MAX_ANSWER = 64 * 1024

export async function postFile(
  parts: PostParts,
  post: Post,
  tally: Tally,
  signal: AbortSignal,
): Promise<PostResult> {
  const isSmall = post.bytes <= SMALL && parts.gate.bandwidth === null
  let file: FileHandle | Buffer
  try {
    file = isSmall ? readFileSync(post.file) : await open(post.file)
  } catch (error) {
    return { kind: 'failed', failure: noSpool(post.file, errorCode(error), 'opened') }
  }
  // Close the file here, because a body that is never read would not close it.
  await using _handle = Buffer.isBuffer(file) ? null : file
  let size: number
  try {
    size = Buffer.isBuffer(file) ? file.length : (await file.stat()).size
  } catch (error) {
    return { kind: 'failed', failure: noSpool(post.file, errorCode(error), 'read') }
  }
  if (size !== post.bytes) return { kind: 'failed', failure: otherSize(size, post.bytes) }
  return await postTo(post.facts.url, true, file, parts, post, tally, signal)
}

async function postTo(
  url: URL,
  mayRedirect: boolean,
  file: FileHandle | Buffer,
  parts: PostParts,
  post: Post,
  tally: Tally,
  signal: AbortSignal,
): Promise<PostResult> {
  const { http, clock } = parts
  const { facts } = post
  const body = createMultipartBody(facts.form, file, post.bytes, parts.gate.bandwidth)
  const count = (sent: number) => {
    tally.bytesSent = Math.min(Math.max(0, sent - body.headLength), post.bytes)
  }
  const answer = await http.request({
    method: 'POST',
    url,
    headers: { 'content-type': body.contentType },
    body: {
      length: body.length,
      chunks: () => body.chunks(signal),
      stallMs: STALL_MS,
      onAccepted: (sent) => {
        count(sent)
        post.progress?.(tally.bytesSent)
      },
    },
    signal,
    headersTimeoutMs: answerWaitMs(post.bytes, post.lostAnswers),
    bodyTimeoutMs: ANSWER_PAUSE_MS,
    maxAnswerBytes: MAX_ANSWER,
    freshConnection: post.freshConnection,
  })
  count(answer.bytesSent)
  tally.status = answer.kind === 'answer' ? answer.status : null
  if (answer.kind === 'no-answer') {
    if (signal.aborted) return { kind: 'aborted' }
    const { code, why } = answer
    const isUnreadable = why === 'source' && code !== 'body-source'
    const failure = isUnreadable
      ? noSpool(post.file, code, 'read')
      : judgeNoAnswer(answer, body.length, url.origin)
    return { kind: 'failed', failure: withNextWait(failure, post) }
  }
  const judgement = judgeReply(answer, facts, post.md5, clock.now())
  if (judgement.kind !== 'moved') return judgement
  if (mayRedirect) return postTo(judgement.to, false, file, parts, post, tally, signal)
  return { kind: 'failed', failure: judgement.failure }
}

/** withNextWait adds to a lost answer how long the next attempt waits for one. */
function withNextWait(failure: Failure, { bytes, lostAnswers }: Post): Failure {
  if (failure.rule !== RULES.lostAfterBody) return failure
  const wait = formatDuration(answerWaitMs(bytes, lostAnswers + 1))
  const reason = `${failure.reason}; the next attempt waits up to ${wait} for an answer`
  return { ...failure, reason }
}

function noSpool(path: string, code: string | null, how: 'opened' | 'read'): Failure {
  if (code === 'ENOENT') {
    const reason = 'the copy of the file in the state directory is gone'
    return failureOf(RULES.spoolChanged, { code: 'spool-gone', reason })
  }
  return failureOf(RULES.spoolUnreadable, {
    code: code ?? 'spool-unreadable',
    condition: stateCondition(code),
    reason: `the copy ${path} cannot be ${how} (${code})`,
  })
}

function otherSize(found: number, expected: number): Failure {
  return failureOf(RULES.spoolChanged, {
    code: 'spool-changed',
    reason: `the copy of the file in the state directory has ${found} bytes, and had ${expected} when it was checked`,
  })
}
