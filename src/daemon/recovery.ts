// Owns the work before the first listing: it repairs what a crash or a lost disk left.

import { type BigIntStats, lstatSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Config } from '../config/config.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { ON_HOLD } from '../domain/reason-codes.ts'
import { UNSENT } from '../domain/states.ts'
import type { History, KnownFile, State } from '../history/port.ts'
import type { Clock } from '../lib/clock.ts'
import { identityOf } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { decideStart } from '../pipeline/decide/start.ts'
import type { Ledger } from '../pipeline/ledger.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'
import type { Spool } from '../spool/port.ts'

interface RecoveryParts {
  clock: Clock
  history: History
  /** The vendor's folder (`inbox.directory`). */
  inboxDirectory: string
  ledger: Ledger
  log: Log
  postDelivery: PostDelivery
  spool: Spool
}

/**
 * recover records a loss of the history and a change of the service, and makes versions due that wait for an account.
 * After a crash, it ends running attempts as `unknown`. It reads files again whose copies are missing, holds versions
 * of a state directory that was restored, removes copies that belong to no version, and finds missing receipts.
 */
export async function recover(
  { clock, history, inboxDirectory, ledger, log, postDelivery, spool }: RecoveryParts,
  { baseUrl, identity }: Config['service'],
): Promise<void> {
  const copies = await spool.names()
  if (await history.commit(() => history.recordLoss(copies))) {
    const hint = hintWith('to see what is held and how to decide', commandFor('status'))
    log.warn(
      { event: 'history.lost', hint },
      'the history was lost or is older than the spool: each feed is held once',
    )
  }
  const noAccount = { account: null, partner: null, partnerAccount: null }
  const destination = { ...noAccount, baseUrl, ...identity }
  if (await history.commit(() => history.recordService(destination))) {
    const hint = hintWith(
      'to send an upload there now, drop its file again, or restore one of these',
      commandFor('status --all'),
    )
    log.warn(
      { event: 'service.changed', hint },
      'uploads now go to another service or account, which gets each feed with its next version',
    )
  }
  const recovered = await history.commit(() => {
    // Somebody might have corrected the key, or the service might now accept the account.
    history.makeDue([ON_HOLD])
    return afterCrash(clock.now(), history, ledger)
  })
  const repair = { history, inboxDirectory, ledger }
  const lost = await history.commit(() => handleMissingCopies(copies, repair))
  const held = renewMark(clock.now(), repair)
  if (lost + held > 0) {
    log.warn({ event: 'history.restored', lost, held }, 'the state directory was restored')
  }
  const orphans = await spool.sweep(new Set(history.spoolNames()))
  if (recovered.checking + recovered.uploading + orphans > 0) {
    log.info({ event: 'daemon.resumed', ...recovered, orphans }, 'resumed after a crash')
  }
  postDelivery.recover()
}

/** afterCrash ends the steps that the last run left unfinished. Returns the number of repaired versions by state. */
function afterCrash(
  now: number,
  history: History,
  ledger: Ledger,
): { checking: number; uploading: number } {
  const repaired = (state: State) => {
    const left = history.list({ states: [state], all: true }).toReversed()
    for (const version of left) {
      const key = history.attempts(version.id, 1)[0]?.key ?? null
      ledger.write(decideStart(version, { kind: 'crashed', at: now, key }))
    }
    return left.length
  }
  return { checking: repaired('checking'), uploading: repaired('uploading') }
}

/** RepairParts is for repairs that depend on whether the files of versions are still in the folder. */
type RepairParts = Pick<RecoveryParts, 'history' | 'inboxDirectory' | 'ledger'>

/**
 * handleMissingCopies repairs the versions whose copies were lost with a host or a disk. Their files are read again. If
 * the file is gone, too, its version fails, so that a person learns of the loss. Returns how many unsent versions lost
 * their copies.
 */
function handleMissingCopies(
  copies: readonly string[],
  { history, inboxDirectory, ledger }: RepairParts,
): number {
  const there = new Set(copies)
  const missing = history.spoolNames().filter((name) => !there.has(name))
  const versions = missing.flatMap((name) => history.withCopy(name))
  for (const version of versions) {
    const fileIsThere = statsInFolder(inboxDirectory, version.path)?.isFile() ?? false
    const paths = history.pathsOf(version.id)
    ledger.write(decideStart(version, { kind: 'copy-lost', fileIsThere, paths }))
  }
  return versions.filter(({ state }) => UNSENT.includes(state)).length
}

/**
 * renewMark changes the mark of the state at each start. When the state is a copy from an earlier moment, queued
 * versions might be older than the versions on the service, so a person must decide about them. Versions whose file is
 * still in the folder and unchanged stay queued. Returns how many versions it held.
 */
function renewMark(now: number, { history, inboxDirectory, ledger }: RepairParts): number {
  let held = 0
  history.mark.renew(now, () => {
    for (const version of history.list({ states: ['queued'], all: true })) {
      const known = ledger.known.at(version.path)
      const found = statsInFolder(inboxDirectory, version.path)
      const fileIsUnchanged = hasSameSizeAndTime(known, found)
      held += ledger.write(decideStart(version, { kind: 'copied-state', fileIsUnchanged })).length
    }
  })
  return held
}

/**
 * statsInFolder returns the stats of the file at a path; undefined if the file is missing or cannot be looked at, or if
 * the path is outside of the folder.
 */
function statsInFolder(directory: string, path: string): BigIntStats | undefined {
  if (isAbsolute(path)) return undefined
  try {
    return lstatSync(join(directory, path), { bigint: true, throwIfNoEntry: false })
  } catch {
    // The listing reports what is wrong with the folder.
    return undefined
  }
}

/**
 * hasSameSizeAndTime returns whether a file has the size and mtime that it had when it was last read. It ignores the
 * inode, which is another one on a restored disk.
 */
function hasSameSizeAndTime(known: KnownFile | null, found: BigIntStats | undefined): boolean {
  if (found === undefined || known === null) return false
  const { mtimeNs, size } = identityOf(found)
  return size === known.identity.size && mtimeNs === known.identity.mtimeNs
}
