// The story of a feed, from top to bottom. The daemon (daemon/) decides when a step happens. Each step is recorded in
// the history before the next one begins, so that the story continues after a crash.
//
//   1. settle    daemon/record-listing.ts, inbox/settling.ts: wait until the file has not changed for a while
//   2. snapshot  `take`: copy the bytes into the spool, check, hash and count them in one pass
//   3. check     `#judge`: are these bytes new for the feed, and are they well-formed?
//   4. guard     `#guard`: hold for a person what looks like an accident
//   5. deliver   `deliver`: upload the copy when it is due
//   6. clean up  post-delivery.ts, after each end: receipt, archive or quarantine, remove unneeded copies

import { isAbsolute, resolve } from 'node:path'
import type { FeedRule } from '../config/feeds.ts'
import type { CheckResult, FeedContent, FileIdentity, Verdict } from '../feed/port.ts'
import { createBacklog } from '../history/backlog.ts'
import { isNewest, retriesOf } from '../history/decisions.ts'
import type { Reason, State, Version, VersionPatch } from '../history/port.ts'
import { CHANGED, INCOMPLETE, LEFT, NO_ROOM, OLDER, RETRIED } from '../history/reason-codes.ts'
import { isMissing } from '../lib/errno.ts'
import { isRetryable } from '../lib/errors.ts'
import { estimatedBytes } from '../lib/packing.ts'
import type { DeliveryResult, Uploader } from '../upload/port.ts'
import type { Guard } from './guard.ts'
import type { Parts } from './parts.ts'
import type { PostDelivery } from './post-delivery.ts'
import { DAEMON_STOPPED, faultReason, recordDelivery, recordError } from './record-outcome.ts'
import { newerByName, sameBytesOf } from './same-bytes.ts'

/** Observer counts checks and attempts, for the metrics. */
export interface Observer {
  checked(verdict: Verdict): void
  /** retried counts a further attempt of a version; `status` is the answer to the previous attempt. */
  retried(status: number | null): void
  attemptEnded(attempt: { status: number | null; bytesSent: number; ms: number }): void
}

export interface PipelineParts extends Parts {
  upload: Uploader
  postDelivery: PostDelivery
  /** reconcile asks the campaign schedule for a new comparison. */
  reconcile: () => void
  guard: Guard
  /** null: metrics are off. */
  observer: Observer | null
  /** onProgress reports the bytes of a version that the network has taken so far. */
  onProgress: (id: number, sent: number, total: number) => void
}

/** Candidate is a file to take, from the inbox or named by a person. */
export interface Candidate {
  /** The path in the history: relative to the inbox, or absolute if the file lies elsewhere. */
  path: string
  /** The identity of the settled file; null: take the file as it is now. */
  identity: FileIdentity | null
  rule: FeedRule
  /** On a last look, an incomplete document is rejected. */
  final: boolean
  /** The file could not be read before: the history records nothing until it can be read. */
  isSkipped?: boolean
  /** See `CheckJob`. */
  opened?: number | undefined
}

export type Taken =
  | { kind: 'version'; version: Version }
  /** The file has the bytes of an existing version, so it makes no new one. */
  | { kind: 'seen'; version: Version }
  /** The file changed or left while it was read: look again. */
  | { kind: 'again'; reason: string }
  /** The file cannot be read: it makes no version, and its feed stays as it is. */
  | { kind: 'skipped'; reason: string; hint: string }
  /** The spool has no room; the file itself may be fine. */
  | { kind: 'no-room'; code: string; reason: string }

type Read = Extract<CheckResult, { kind: 'read' }>
type Unreadable = Extract<CheckResult, { kind: 'unreadable' }>

const HINT = {
  broken: 'correct the export and drop the file again',
  incomplete: 'wait for its writer; if the export is over, run it again',
  rejected: 'run the export again: its writer stopped before the end of the document',
}

export class Pipeline {
  readonly #parts: PipelineParts

  constructor(parts: PipelineParts) {
    this.#parts = parts
  }

  /**
   * 2. take copies the bytes of a settled file into the spool, checks, hashes and counts them in one pass. It throws
   * errors that are `isRetryable`, and the signal's reason. Any other error is a fault of ours and fails this version
   * alone.
   */
  async take(file: Candidate, signal: AbortSignal): Promise<Taken> {
    const { history, ledger, log, spool } = this.#parts
    if (!file.isSkipped) await history.commit(() => ledger.checking(file), 'soon')
    const copy = spool.prepare()
    try {
      return await this.#snapshot(file, copy, signal)
    } catch (error) {
      if (signal.aborted) await history.commit(() => ledger.resettle(file.path, DAEMON_STOPPED))
      // The next try makes another copy. The next start removes a copy that cannot be removed now.
      await spool.discard(copy).catch(() => {})
      if (signal.aborted || isRetryable(error)) throw error
      log.error(
        { event: 'feed.fault', err: error, feed: file.rule.feed, path: file.path },
        'an internal error of feedsyncd',
      )
      return this.#conclude(file, 'failed', faultReason(error))
    }
  }

  async #snapshot(file: Candidate, copy: string, signal: AbortSignal): Promise<Taken> {
    const { checkerFor, config, spool } = this.#parts
    const { identity: expected, path, rule } = file
    const { directory } = config.inbox
    const result = await checkerFor(estimatedBytes(path, expected)).check(
      {
        source: resolve(directory, path),
        // Below the folder, links are not followed. Elsewhere a person chose the file.
        root: isAbsolute(path) ? undefined : directory,
        opened: file.opened,
        expected,
        copyTo: copy,
        indexTo: spool.indexOf(copy),
        mapping: rule.mapping,
      },
      signal,
    )
    switch (result.kind) {
      case 'changed':
        return this.#lookAgain(file, { code: CHANGED, text: 'it changed while it was read' })
      case 'unreadable':
        return this.#unreadable(file, result)
      case 'no-room': {
        const text = `not enough disk space for the copy: ${result.reason}`
        const { reason } = await this.#lookAgain(file, { code: NO_ROOM, text })
        return { kind: 'no-room', code: result.code, reason }
      }
      case 'read':
        this.#parts.observer?.checked(result.verdict)
        return this.#judge(file, result, copy)
      default:
        return result satisfies never
    }
  }

  async #unreadable(file: Candidate, { code, hint, reason }: Unreadable): Promise<Taken> {
    if (isMissing(code))
      return this.#lookAgain(file, { code: LEFT, text: 'it left while it was read' })
    const { history, ledger } = this.#parts
    await history.commit(() => ledger.readFailed(file.path))
    return { kind: 'skipped', reason, hint }
  }

  /** 3. #judge decides whether these bytes are new for the feed, and acts on the verdict of the check. */
  async #judge(file: Candidate, read: Read, copy: string): Promise<Taken> {
    const { clock, history, ledger, spool } = this.#parts
    const { verdict } = read
    const same = sameBytesOf(history, file, read)
    if (same !== null) {
      await spool.discard(copy)
      await history.commit(() => ledger.seen(file, same), 'soon')
      return { kind: 'seen', version: same }
    }
    const newer = newerByName(history, file)
    // An incomplete file may be the next version, still being written.
    if (newer !== null && (verdict.kind !== 'incomplete' || file.final))
      return this.#older(file, read, copy, newer)
    switch (verdict.kind) {
      case 'ok':
        return this.#guard(file, read, verdict.content, copy)
      case 'broken':
        return this.#conclude(file, 'rejected', placed(verdict, HINT.broken), facts(read))
      case 'incomplete':
        if (file.final)
          return this.#conclude(file, 'rejected', placed(verdict, HINT.rejected), facts(read))
        return this.#conclude(file, 'incomplete', placed(verdict, HINT.incomplete), {
          bytes: read.bytes,
          // A file that is rewritten and stops at the same place each time gets no more time.
          incompleteSince: ledger.incompleteSince(file.path, read.bytes) ?? clock.now(),
        })
      default:
        return verdict satisfies never
    }
  }

  /** #older supersedes a version with an older date in its file name. Its copy is kept for `restore`. */
  async #older(file: Candidate, read: Read, copy: string, newer: Version): Promise<Taken> {
    const { history, ledger, spool } = this.#parts
    const text = `it is older than version ${newer.id} (${newer.path})`
    const patch = facts(read)
    if (read.verdict.kind === 'ok') {
      const { id } = await history.commit(() => ledger.versionFor(file))
      const { postings } = read.verdict.content
      patch.spool = await spool.keep(copy, { id, feed: file.rule.feed, postings })
    }
    return this.#conclude(file, 'superseded', { code: OLDER, text }, patch)
  }

  /** 4. #guard holds for a person what looks like an accident, and accepts everything else. */
  async #guard(file: Candidate, read: Read, content: FeedContent, copy: string): Promise<Taken> {
    const { guard, history, ledger, postDelivery, spool } = this.#parts
    const { path } = file
    const { feed, account } = file.rule
    const named = { feed, account, path }
    const compared = await guard.compare({ ...named, bytes: read.bytes }, spool.indexOf(copy))
    // Bytes first, then the row that names them: a crash in between leaves an orphan, never a row without bytes.
    // A file of the same size as before gets its version only now, when its bytes are known to differ.
    const pending = history.pendingVersionAt(file.path)
    const begin = () => history.commit(() => ledger.newestFor(file))
    const isItsOwn = pending?.feed === feed && isNewest(history, pending)
    const { id } = isItsOwn ? pending : await begin()
    const kept = await spool.keep(copy, { id, feed, postings: content.postings })
    const [changes = null] = compared.values()
    const accepted = { ...facts(read), spool: kept, changes }
    const conclude = () => {
      const held = guard.judge({ ...read, ...content, ...named }, compared)
      const to = held === null ? 'queued' : 'held'
      return ledger.conclude(file, to, held, { ...accepted, guard: held?.code ?? null })
    }
    const version = await history.commit(conclude, 'soon')
    if (version.state === 'queued') guard.remember(version.id, compared)
    await postDelivery.cleanUp(version)
    return { kind: 'version', version }
  }

  /** 5. addressed returns the version with the account of its rule. A file from elsewhere has the rule of its feed. */
  addressed(queued: Version): Version {
    const { ledger, ruleFor } = this.#parts
    const { feed, path } = queued
    const named = isAbsolute(path) ? ruleFor(path, feed) : null
    return ledger.addressed(queued, named?.account ? named : ruleFor(path))
  }

  /** deliver uploads the copy and returns the result. It calls `stored` before it records that storage has the file. */
  async deliver(
    queued: Version,
    signal: AbortSignal,
    stored: () => void = () => {},
  ): Promise<DeliveryResult> {
    const { postDelivery, clock, guard, history, ledger, log, observer } = this.#parts
    const { reconcile, spool, upload } = this.#parts
    let startedAt = 0
    const { id, account, path } = queued
    const attemptsBefore = Math.max(0, queued.attempts - retriesOf(history, id))
    const isRetried = queued.reasonCode === RETRIED
    const bytes = queued.bytes ?? 0
    const backlog = createBacklog(history, clock, log)
    const delivered = upload(
      {
        id,
        feed: queued.feed,
        account,
        path,
        attemptsBefore,
        isRetried,
        bytes,
        md5: queued.md5 ?? '',
        file: spool.path(queued.spool ?? ''),
        progress: (sent) => this.#parts.onProgress(id, sent, bytes),
        attempts: {
          started: async () => {
            const n = await guard.start(queued, () => ledger.startAttempt(id))
            startedAt = clock.monotonic()
            if (n !== null && n > 1) observer?.retried(history.attempts(id, 2)[0]?.status ?? null)
            return n
          },
          sending: (n, key) => history.commit(() => ledger.startSending(id, n, key)),
          attemptsInARow: (code) => history.attemptsInARow(id, code),
          ended: (n, end) => {
            const endedAt = clock.now()
            const write = () => history.endAttempt(id, n, endedAt, end)
            // Defer this row to the transaction of `uploaded`: a crash between the two would send the file again.
            if (end.outcome === 'stored') backlog.defer(write)
            else backlog.add(write)
            observer?.attemptEnded({ ...end, ms: clock.monotonic() - startedAt })
          },
        },
      },
      signal,
    )
    const result = await delivered.catch(async (error) => {
      // A version that stayed `uploading` would never be tried again.
      await backlog.finish(() => recordError(ledger, id, error), signal)
      throw error
    })
    if (result.kind === 'stored') stored()
    // The backlog waits for a full disk, so that a confirmed file is not sent again.
    const ended = await backlog.finish(() => recordDelivery(ledger, id, result), signal)
    await postDelivery.cleanUp(ended)
    // New postings may change what the campaigns select (campaigns/schedule.ts).
    if (ended.state === 'uploaded') reconcile()
    return result
  }

  async #conclude(
    file: Candidate,
    to: State,
    reason: Reason,
    patch: VersionPatch = {},
  ): Promise<Taken> {
    const { history, ledger, postDelivery } = this.#parts
    const end = () => ledger.conclude(file, to, reason, patch)
    const version = await history.commit(end, 'soon')
    await postDelivery.cleanUp(version)
    return { kind: 'version', version }
  }

  async #lookAgain(file: Candidate, reason: Reason) {
    const { history, ledger } = this.#parts
    await history.commit(() => ledger.resettle(file.path, reason))
    return { kind: 'again', reason: reason.text } as const
  }
}

/** facts returns the columns that are known once a file was read to its end. */
function facts(read: Read): VersionPatch {
  const { sha256, md5, bytes, encoding, verdict } = read
  const content = verdict.kind === 'ok' ? verdict.content : {}
  return { sha256, md5, bytes, encoding, ...content, incompleteSince: null, nextAttemptAt: null }
}

function placed(verdict: Exclude<Verdict, { kind: 'ok' }>, hint: string): Reason {
  const { position, reason } = verdict
  const text = position ? `line ${position.line}, column ${position.column}: ${reason}` : reason
  return { code: verdict.kind === 'broken' ? verdict.code : INCOMPLETE, text, hint, position }
}
