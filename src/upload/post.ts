// Posts one file of the spool with one form, within time limits and a bandwidth. It follows at most one redirect, and
// returns the result; pipeline/decide/sending.ts decides about another attempt.

import { readFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { stateCondition } from '../domain/conditions.ts'
import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import { type Clock, HOUR, MINUTE, SECOND } from '../lib/clock.ts'
import { errorCode } from '../lib/errors.ts'
import type { HttpClient } from '../lib/http.ts'
import { formatDuration } from '../lib/units.ts'
import type { Bandwidth } from './bandwidth.ts'
import { type Judgement, judgeNoAnswer, judgeReply } from './classify.ts'
import type { Confirmation, SentFile } from './confirmation.ts'
import { createMultipartBody } from './multipart.ts'
import type { Tally } from './port.ts'

/**
 * A post ends if the system takes no byte for STALL_MS. The system can take 4 MB at once, and then no byte until the
 * line has sent them. A line as slow as SLOW_LINE sends 4 MB within STALL_MS.
 */
const STALL_MS = 5 * MINUTE
/** SLOW_LINE is the slowest line that is waited for, in bytes a second. */
const SLOW_LINE = 14_000
/** LONGEST_ANSWER_WAIT is in ms: a feed that needs longer would be overtaken by the feed of the next day. */
const LONGEST_ANSWER_WAIT = 12 * HOUR
/** ANSWER_PAUSE_MS limits the time between two pieces of storage's answer. */
const ANSWER_PAUSE_MS = MINUTE

/** Post is a file of the spool, and the form with which it is posted. */
export interface Post extends SentFile {
  /** The spool file. */
  file: string
  bytes: number
  tally: Tally
  progress: ((bytesSent: number) => void) | undefined
  /** True after a failed post: the post then opens a new connection. */
  freshConnection: boolean
  /** The number of attempts to send this file that got no answer after its last byte; see `answerWaitMs`. */
  lostAnswers: number
}

/**
 * answerWaitMs returns how long storage may take to answer after the last byte, in ms. A proxy can take the whole file
 * at once and send it on over a slow line, or search it for viruses. `lostAnswers` is how many attempts to send this
 * file ended without an answer after its last byte: each one doubles the wait.
 */
export function answerWaitMs(bytes: number, lostAnswers: number): number {
  const onceMs = STALL_MS + (bytes / SLOW_LINE) * SECOND
  return Math.min(onceMs * 2 ** lostAnswers, LONGEST_ANSWER_WAIT)
}

type PostResult = Confirmation | { kind: 'aborted' }

/** Files up to SMALL bytes are read at once in this thread: from the cache, this is faster than in another thread. */
const SMALL = 256 * 1024

/** MAX_ANSWER limits the kept part of an answer, in bytes; an error document is below 2 kB. */
const MAX_ANSWER = 64 * 1024

/** Line is the way to storage. If `bandwidth` is null, the line has no limit. */
export interface Line {
  bandwidth: Bandwidth | null
  clock: Clock
  http: HttpClient
}

/**
 * postFile posts the file, and follows one redirect. A spool file that cannot be read, or has another size than
 * `bytes`, is a failure. postFile fills in the tally, and counts only the bytes of the last post.
 */
export async function postFile(post: Post, line: Line, signal: AbortSignal): Promise<PostResult> {
  const isSmall = post.bytes <= SMALL && line.bandwidth === null
  let file: FileHandle | Buffer
  try {
    file = isSmall ? readFileSync(post.file) : await open(post.file)
  } catch (error) {
    return { kind: 'failed', failure: spoolUnusable(post.file, errorCode(error), 'opened') }
  }
  // Close the file here, because a body that is never read would not close it.
  await using _handle = Buffer.isBuffer(file) ? null : file
  let size: number
  try {
    size = Buffer.isBuffer(file) ? file.length : (await file.stat()).size
  } catch (error) {
    return { kind: 'failed', failure: spoolUnusable(post.file, errorCode(error), 'read') }
  }
  if (size !== post.bytes) return { kind: 'failed', failure: otherSize(size, post.bytes) }
  const first = await postTo({ ...post, content: file, url: post.facts.url }, line, signal)
  if (first.kind !== 'moved') return first
  const second = await postTo({ ...post, content: file, url: first.to }, line, signal)
  return second.kind === 'moved' ? { kind: 'failed', failure: second.failure } : second
}

async function postTo(
  { content, url, ...post }: Post & { content: FileHandle | Buffer; url: URL },
  { bandwidth, clock, http }: Line,
  signal: AbortSignal,
): Promise<Judgement | { kind: 'aborted' }> {
  const { bytes, facts, tally } = post
  const body = createMultipartBody(facts.form, { file: content, bytes, bandwidth })
  const count = (sent: number) => {
    tally.bytesSent = Math.min(Math.max(0, sent - body.headLength), bytes)
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
    headersTimeoutMs: answerWaitMs(bytes, post.lostAnswers),
    bodyTimeoutMs: ANSWER_PAUSE_MS,
    maxAnswerBytes: MAX_ANSWER,
    freshConnection: post.freshConnection,
  })
  count(answer.bytesSent)
  tally.status = answer.kind === 'answer' ? answer.status : null
  if (answer.kind === 'no-answer') {
    if (signal.aborted) return { kind: 'aborted' }
    const { code, why } = answer
    // The code `body-source` means that the file ended early; a failed read has the code of the system.
    const hasReadFailed = why === 'source' && code !== 'body-source'
    const failure = hasReadFailed
      ? spoolUnusable(post.file, code, 'read')
      : judgeNoAnswer(answer, body.length, url.origin)
    return { kind: 'failed', failure: withNextWait(failure, post) }
  }
  return judgeReply(answer, post, clock.now())
}

/** withNextWait adds to the failure of a lost answer how long the next attempt waits for its answer. */
function withNextWait(failure: Failure, { bytes, lostAnswers }: Post): Failure {
  if (failure.rule !== RULES.lostAfterBody) return failure
  const wait = formatDuration(answerWaitMs(bytes, lostAnswers + 1))
  const reason = `${failure.reason}; the next attempt waits up to ${wait} for an answer`
  return { ...failure, reason }
}

function spoolUnusable(path: string, code: string | null, how: 'opened' | 'read'): Failure {
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
