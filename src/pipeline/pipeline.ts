// The story of a feed, from top to bottom. The daemon (daemon/) decides when a step happens. Each step is recorded in
// the history before the next one begins, so that the story continues after a crash.
//
//   1. settle    daemon/record-listing.ts, inbox/settling.ts: wait until the file has not changed for a while
//   2. snapshot  `take`: copy the bytes into the spool, check, hash and count them in one pass
//   3. check     `#conclude`: are these bytes new for the feed, and are they well-formed?
//   4. guard     baselines.ts: hold for a person what looks like an accident
//   5. send      attempt.ts, when the version is due: get a form, guard again, post the copy
//   6. clean up  post-delivery.ts, after each end: receipt, archive or quarantine, remove unneeded copies

import { isAbsolute, resolve } from 'node:path'
import type { FeedRule } from '../config/feeds.ts'
import { estimatedBytes } from '../domain/packing.ts'
import { CHANGED, INCOMPLETE, LEFT, NEVER_QUIET, NO_ROOM, STOPPED } from '../domain/reason-codes.ts'
import type { CheckerFor, CheckResult, Verdict } from '../feed/port.ts'
import type { History, Reason, Version } from '../history/port.ts'
import { isMissing } from '../lib/errno.ts'
import { isRetryable } from '../lib/errors.ts'
import type { FileIdentity } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import type { Spool } from '../spool/port.ts'
import type { Compared, Comparisons } from './baselines.ts'
import { decideFile, type FileEvent, judgeRead, type ReadJudgement } from './decide/file.ts'
import type { ReadFile } from './decide/same-bytes.ts'
import { faultReason } from './decide/sending.ts'
import type { GuardedVersion } from './guards.ts'
import type { Ledger } from './ledger.ts'
import type { PostDelivery } from './post-delivery.ts'

interface PipelineParts {
  checkerFor: CheckerFor
  comparisons: Comparisons
  history: History
  /** The vendor's folder (`inbox.directory`). */
  inboxDirectory: string
  ledger: Ledger
  log: Log
  /** observer counts checks for the metrics; null if metrics are off. */
  observer: CheckObserver | null
  postDelivery: PostDelivery
  spool: Spool
}

export interface CheckObserver {
  checked(verdict: Verdict): void
}

/** Candidate is a file to take, from the inbox or named by a person. */
export interface Candidate {
  /** The path in the history: relative to the inbox, or absolute if the file lies elsewhere. */
  path: string
  /** The identity of the settled file; null means the file as it is now. */
  identity: FileIdentity | null
  rule: FeedRule
  /** True if the file is not read again, so that an incomplete document is rejected. */
  final: boolean
  /** The file never stays the same, so it is read as it is, and taken if its bytes stay the same meanwhile. */
  isRestless?: boolean
  /** The file could not be read before: the history records nothing until it can be read. */
  isSkipped?: boolean
  /** Descriptor of the file, if another user had to open it. The caller closes it. */
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
  /** The spool has no room; the file itself might be fine. */
  | { kind: 'no-room'; code: string; reason: string; hint: string }

type Read = Extract<CheckResult, { kind: 'read' }>
type Unreadable = Extract<CheckResult, { kind: 'unreadable' }>

const HINT = {
  broken: 'correct the export and drop the file again',
  incomplete: 'wait for its writer; if the export has ended, run it again',
  rejected: 'run the export again: its writer stopped before the end of the document',
}

const READ_CHANGED = { code: CHANGED, reason: 'it changed while it was read' }
const NEVER_STILL = {
  code: NEVER_QUIET,
  reason: 'it changes all the time, also while it was read as it is',
  hint: 'let its writer write under another name, and rename the file when it is complete; feedsyncd tries again after inbox.incompleteAfter',
}

export class Pipeline {
  readonly #checkerFor: CheckerFor
  readonly #comparisons: Comparisons
  readonly #history: History
  readonly #inboxDirectory: string
  readonly #ledger: Ledger
  readonly #log: Log
  readonly #observer: CheckObserver | null
  readonly #postDelivery: PostDelivery
  readonly #spool: Spool

  constructor(parts: PipelineParts) {
    this.#checkerFor = parts.checkerFor
    this.#comparisons = parts.comparisons
    this.#history = parts.history
    this.#inboxDirectory = parts.inboxDirectory
    this.#ledger = parts.ledger
    this.#log = parts.log
    this.#observer = parts.observer
    this.#postDelivery = parts.postDelivery
    this.#spool = parts.spool
  }

  /**
   * 2. take copies the bytes of a settled file into the spool, checks, hashes and counts them in one pass, and writes
   * what follows for its version. It throws errors that are `isRetryable`, and the signal's reason. Any other error is
   * a fault of ours and fails this version alone.
   */
  async take(file: Candidate, signal: AbortSignal): Promise<Taken> {
    if (!file.isSkipped) await this.#write(file, { kind: 'reading' }, 'soon')
    const copy = this.#spool.prepare()
    try {
      return await this.#snapshot(file, copy, signal)
    } catch (error) {
      if (signal.aborted) {
        const reason = { code: STOPPED, reason: 'the daemon stopped' }
        await this.#write(file, { kind: 'interrupted', reason })
      }
      // The next try makes another copy. The next start removes a copy that cannot be removed now.
      await this.#spool.discard(copy).catch(() => {})
      if (signal.aborted || isRetryable(error)) throw error
      this.#log.error(
        { event: 'feed.fault', err: error, feed: file.rule.feed, path: file.path },
        'an internal error of feedsyncd',
      )
      const failed = await this.#write(file, { kind: 'fault', reason: faultReason(error) }, 'soon')
      if (failed === null) throw error
      return this.#finish(failed)
    }
  }

  async #snapshot(file: Candidate, copy: string, signal: AbortSignal): Promise<Taken> {
    const { identity: expected, path, rule } = file
    const result = await this.#checkerFor(estimatedBytes(path, expected)).check(
      {
        source: resolve(this.#inboxDirectory, path),
        // Below the folder, links are not followed. Elsewhere a person chose the file.
        root: isAbsolute(path) ? undefined : this.#inboxDirectory,
        opened: file.opened,
        expected: file.isRestless ? null : expected,
        isRestless: file.isRestless,
        copyTo: copy,
        indexTo: this.#spool.indexOf(copy),
        mapping: rule.mapping,
      },
      signal,
    )
    switch (result.kind) {
      case 'changed':
        return this.#interrupt(file, file.isRestless ? NEVER_STILL : READ_CHANGED)
      case 'unreadable':
        return this.#unreadable(file, result)
      case 'no-room': {
        const { code, hint } = result
        const isFull = code === 'ENOSPC' || code === 'EDQUOT'
        const reason = isFull
          ? `not enough disk space for the copy: ${result.reason}`
          : result.reason
        await this.#interrupt(file, { code: NO_ROOM, reason, hint })
        return { kind: 'no-room', code, reason, hint }
      }
      case 'read':
        this.#observer?.checked(result.verdict)
        return this.#conclude(file, result, { copy, signal })
      default:
        return result satisfies never
    }
  }

  async #unreadable(file: Candidate, { code, hint, reason }: Unreadable): Promise<Taken> {
    if (isMissing(code))
      return this.#interrupt(file, { code: LEFT, reason: 'it left while it was read' })
    await this.#write(file, { kind: 'unreadable' })
    return { kind: 'skipped', reason, hint }
  }

  /**
   * 3. #conclude asks what the bytes mean, keeps the copy if the bytes may be sent, and writes the decision. It writes
   * the copy before the row that names it: a crash in between leaves a copy without a row, never a row without its
   * copy.
   */
  async #conclude(
    file: Candidate,
    read: Read,
    { copy, signal }: { copy: string; signal: AbortSignal },
  ): Promise<Taken> {
    const found = readFileOf(read, file)
    const answer = judgeRead(this.#ledger.facts(file), file, found)
    const isSendable = answer.kind === 'sendable'
    const named = { feed: file.rule.feed, account: file.rule.account, path: file.path }
    // 4. The guards compare the postings with the versions that this version would replace.
    const compared: Compared = isSendable
      ? await this.#comparisons.ofIndex({ ...named, bytes: read.bytes }, this.#spool.indexOf(copy))
      : new Map()
    const guarded = { ...read, ...found.patch, ...named } as GuardedVersion & typeof named
    const held = () => this.#comparisons.judge(guarded, compared)
    const { bytes, encoding } = read
    const difference = isSendable
      ? await this.#comparisons.differenceIfHeld(
          { ...guarded, bytes, encoding, copy },
          compared,
          signal,
        )
      : null
    const kept = await this.#keep(file, read.verdict, { answer, copy })
    const [changes = null] = compared.values()
    const patch = { ...found.patch, ...(kept !== null && { spool: kept, changes }) }
    const judged = { ...found, patch }
    const version = await this.#history.commit(() => {
      const [changed = null] = this.#ledger.writeFile(file, { kind: 'read', file: judged, held })
      if (changed?.state === 'held' && difference !== null)
        this.#history.keepDifference(changed.id, difference)
      return changed
    }, 'soon')
    // The same bytes came from another path, or a person restored them, while the copy was kept.
    if (kept !== null && version?.spool !== kept) await this.#spool.remove(kept)
    if (answer.kind === 'same' || version === null) {
      const seen = seenIn(this.#history, file, answer)
      await this.#postDelivery.cleanUp(seen)
      return { kind: 'seen', version: seen }
    }
    if (version.state === 'queued' && isSendable) this.#comparisons.remember(version.id, compared)
    return this.#finish(version)
  }

  /**
   * #keep keeps the copy if the bytes can be sent now, or later by a restore, and returns its name. Otherwise it
   * removes the copy and returns null.
   */
  async #keep(
    file: Candidate,
    verdict: Verdict,
    { answer, copy }: { answer: ReadJudgement; copy: string },
  ): Promise<string | null> {
    // Only a well-formed document has a copy.
    if (verdict.kind !== 'ok') return null
    const isSendable = answer.kind === 'sendable'
    if (isSendable || answer.kind === 'older') {
      const id = await this.#ensureVersion(file, { isSendable })
      const { postings } = verdict.content
      return this.#spool.keep(copy, { id, feed: file.rule.feed, postings })
    }
    await this.#spool.discard(copy)
    return null
  }

  /** #ensureVersion returns the id of the version that the copy belongs to. It adds a missing version. */
  async #ensureVersion(file: Candidate, { isSendable }: { isSendable: boolean }): Promise<number> {
    const event = { kind: 'named', isSendable } as const
    if (decideFile(this.#ledger.facts(file), file, event).length > 0) await this.#write(file, event)
    const unread = this.#ledger.unreadAt(file.path)
    if (unread === null) throw new Error(`${file.path} has no version`)
    return unread.id
  }

  /** #finish cleans up after a version and returns it as taken. */
  async #finish(version: Version): Promise<Taken> {
    await this.#postDelivery.cleanUp(version)
    return { kind: 'version', version }
  }

  async #interrupt(file: Candidate, reason: Reason) {
    await this.#write(file, { kind: 'interrupted', reason })
    return { kind: 'again', reason: reason.reason } as const
  }

  /**
   * #write decides about an event of the file and commits the decision. It returns the version of the file, or null if
   * that version did not change.
   */
  async #write(file: Candidate, event: FileEvent, when?: 'soon'): Promise<Version | null> {
    const [changed = null] = await this.#ledger.commitFile(file, event, when)
    return changed
  }
}

/** seenIn returns the version whose bytes came again, as it is now. Throws if the path has no version. */
function seenIn(history: History, { path, rule }: Candidate, answer: ReadJudgement): Version {
  const known = answer.kind === 'same' ? history.version(answer.version.id) : null
  const version = known ?? history.lastVersionAt(path) ?? history.newestRead(rule.feed)
  if (version === null) throw new Error(`${path} has no version`)
  return version
}

/** readFileOf returns what the decisions need of a file that was read. `final` is true if it is not read again. */
export function readFileOf(read: Read, { final }: Pick<Candidate, 'final'>): ReadFile {
  const { sha256, md5, bytes, encoding, verdict } = read
  const content = verdict.kind === 'ok' ? verdict.content : {}
  const patch = {
    sha256,
    md5,
    bytes,
    encoding,
    ...content,
    incompleteSince: null,
    nextAttemptAt: null,
  }
  const hint = verdict.kind === 'broken' ? HINT.broken : final ? HINT.rejected : HINT.incomplete
  return {
    verdict: verdict.kind,
    sha256,
    final,
    patch,
    reason: verdict.kind === 'ok' ? null : reasonOf(verdict, hint),
  }
}

function reasonOf(verdict: Exclude<Verdict, { kind: 'ok' }>, hint: string): Reason {
  const { position } = verdict
  const reason = position
    ? `line ${position.line}, column ${position.column}: ${verdict.reason}`
    : verdict.reason
  return { code: verdict.kind === 'broken' ? verdict.code : INCOMPLETE, reason, hint, position }
}
