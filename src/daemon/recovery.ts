// Owns the work before the first listing: it repairs what a crash left, and adds the feeds that the rules expect.

import { lstatSync, type Stats } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Config, FeedConfig } from '../config/config.ts'
import { expectFeeds } from '../history/expected-feeds.ts'
import { noteLoss } from '../history/lost-history.ts'
import { noteService } from '../history/other-service.ts'
import { COPY_GONE, ON_HOLD } from '../history/reason-codes.ts'
import { modifiedAt } from '../lib/files.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'

const RESTORED_COPY = {
  code: 'history-lost',
  text: 'the history was restored: a newer version may be on the service',
  hint: 'Compare its postings with those on the service; release it if it is right, or discard it.',
} as const

export interface RecoveryParts extends Parts {
  postDelivery: PostDelivery
}

/**
 * recover records a loss of the history. After a crash, it ends running attempts as `unknown`, removes copies that
 * belong to no version, and writes missing receipts.
 */
export async function recover(
  parts: RecoveryParts,
  { feeds, service }: Pick<Config, 'feeds' | 'service'>,
): Promise<void> {
  const { postDelivery, clock, history, log, spool } = parts
  const copies = await spool.names()
  if (await history.commit(() => noteLoss(history, copies))) {
    const hint = 'to see what is held and how to decide: feedsyncd status'
    log.warn(
      { event: 'history.lost', hint },
      'the history was lost or is older than the spool: each feed is held once',
    )
  }
  const { baseUrl, identity } = service
  // The history stores the identity in this form; another form would look like another service.
  const who = { kind: 'partner' in identity ? 'partner' : 'account', ...identity }
  if (await history.commit(() => noteService(history, JSON.stringify([baseUrl, who])))) {
    const hint = 'to send an upload there now, drop its file again, or: feedsyncd restore ID'
    log.warn(
      { event: 'service.changed', hint },
      'uploads now go to another service or account, which gets each feed with its next version',
    )
  }
  const recovered = await history.commit(() => {
    // Somebody may have corrected the key, or the service may now accept the account.
    history.makeDue([ON_HOLD])
    return history.recover(clock.now())
  })
  const lost = await history.commit(() => handleMissingCopies(parts, copies))
  const held = renewMark(parts)
  if (lost + held > 0) {
    log.warn({ event: 'history.restored', lost, held }, 'the state directory was restored')
  }
  const orphans = await spool.sweep(new Set(history.spoolNames()))
  if (recovered.checking + recovered.uploading + orphans > 0) {
    log.info({ event: 'daemon.resumed', ...recovered, orphans }, 'resumed after a crash')
  }
  await postDelivery.recover()
  try {
    await history.commit(() => followRules(parts, feeds))
  } catch (error) {
    // The daemon can run without this step; the next start tries again.
    log.error({ event: 'history.expected-unnoted', err: error }, 'expected feeds were not recorded')
  }
}

/**
 * handleMissingCopies handles copies that were lost with a host or a disk. The file is read again; when it is gone too,
 * the version fails, so that a person knows. Returns how many versions lost their copies.
 */
function handleMissingCopies(parts: Parts, copies: readonly string[]): number {
  const { history, ledger } = parts
  const there = new Set(copies)
  const missing = history.spoolNames().filter((name) => !there.has(name))
  const versions = missing.flatMap((name) => history.copyLost(name))
  for (const { id, path } of versions) {
    for (const known of history.pathsOf(id)) ledger.known.forget(known)
    if (inFolder(parts, path)?.isFile()) {
      const text = 'its copy in the state directory is gone: its file is read again'
      ledger.move(id, 'superseded', { code: COPY_GONE, text })
    } else {
      const text = 'its copy in the state directory is gone: its bytes were on the lost host'
      ledger.fail(id, { code: COPY_GONE, text, hint: 'put the file into the folder again' })
    }
  }
  return versions.length
}

/**
 * renewMark changes the mark of the state at each start. When the state is a copy from an earlier moment, queued
 * versions may be older than the service's, so a person must decide about them. Versions whose unchanged file is still
 * in the folder stay queued. Returns how many versions it held.
 */
function renewMark(parts: Parts): number {
  const { clock, history, ledger } = parts
  let held = 0
  history.mark.renew(clock.now(), () => {
    for (const { id, path } of history.list({ states: ['queued'], all: true })) {
      if (isUnchanged(parts, path)) continue
      ledger.move(id, 'held', RESTORED_COPY, { guard: RESTORED_COPY.code })
      held++
    }
  })
  return held
}

/** inFolder returns the stats of a path in the folder, or undefined without a file or for a file from elsewhere. */
function inFolder({ config }: Parts, path: string): Stats | undefined {
  if (isAbsolute(path)) return undefined
  try {
    return lstatSync(join(config.inbox.directory, path), { throwIfNoEntry: false })
  } catch {
    // The listing reports what is wrong with the folder.
    return undefined
  }
}

/** isUnchanged compares size and mtime of a file with the last read. On another disk the file has another inode. */
function isUnchanged(parts: Parts, path: string): boolean {
  const [present, known] = [inFolder(parts, path), parts.ledger.known.at(path)]
  if (present === undefined || known === null) return false
  return present.size === known.identity.size && +present.mtime === modifiedAt(known.identity)
}

/** followRules applies the present rules to unsent versions, and adds expected feeds so that they can be late. */
function followRules(
  { clock, history, ledger, ruleFor }: Parts,
  feeds: readonly FeedConfig[],
): void {
  ledger.followRules(ruleFor)
  expectFeeds(history, feeds, ruleFor, clock.now())
}
