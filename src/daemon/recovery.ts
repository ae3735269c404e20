// What comes before the first look at the folder: what a crash left is put right, and what the rules
// expect is known.

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

/** What was lost is noted. What a crash left: attempts end as unknown, bytes that no version names are removed, receipts are written. */
export async function recover(
  parts: RecoveryParts,
  { feeds, service }: Pick<Config, 'feeds' | 'service'>,
): Promise<void> {
  const { postDelivery, clock, history, log, spool } = parts
  const copies = await spool.names()
  if (await history.commit(() => noteLoss(history, copies))) {
    const hint = 'to accept what is in the folder as it is: feedsyncd release --lost-history'
    log.warn(
      { event: 'history.lost', hint },
      'the history was lost or is older than the spool: each feed is held once',
    )
  }
  const { baseUrl, identity } = service
  // Histories have it in this form: in another one it would be another service.
  const who = { kind: 'partner' in identity ? 'partner' : 'account', ...identity }
  if (await history.commit(() => noteService(history, JSON.stringify([baseUrl, who])))) {
    const hint = 'to send an upload there now, drop its file again, or: feedsyncd restore ID'
    log.warn(
      { event: 'service.changed', hint },
      'uploads go to another service or account than before, which gets each feed with its next version',
    )
  }
  const recovered = await history.commit(() => {
    // Somebody may have corrected the key, or had the account admitted.
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
    // Trouble of the database is said by whoever needs it; the next start is as good.
    log.error({ event: 'history.expected-unnoted', err: error }, 'expected feeds not noted')
  }
}

/**
 * A copy that is not in the spool was lost with a host or a disk. Its file is read anew; where that is gone, too, a
 * person has to know. Answers how many versions that concerns.
 */
function handleMissingCopies(parts: Parts, copies: readonly string[]): number {
  const { history, ledger } = parts
  const there = new Set(copies)
  const missing = history.spoolNames().filter((name) => !there.has(name))
  const versions = missing.flatMap((name) => history.copyLost(name))
  for (const { id, path } of versions) {
    for (const known of history.pathsOf(id)) ledger.known.forget(known)
    if (inFolder(parts, path)?.isFile()) {
      const text = 'its copy in the state directory is gone: its file is read anew'
      ledger.move(id, 'superseded', { code: COPY_GONE, text })
    } else {
      const text = 'its copy in the state directory is gone: its bytes were on the lost host'
      ledger.fail(id, { code: COPY_GONE, text, hint: 'put the file into the folder again' })
    }
  }
  return versions.length
}

/**
 * Changes the mark of the state, as each start does. In a copy from an earlier moment, what waits may be older than what
 * the service has, unless its file is still in the folder as it was read: a person decides. Answers how many versions are held.
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

/** What is at the path now; undefined for a file that a person uploaded from elsewhere. */
function inFolder({ config }: Parts, path: string): Stats | undefined {
  if (isAbsolute(path)) return undefined
  try {
    return lstatSync(join(config.inbox.directory, path), { throwIfNoEntry: false })
  } catch {
    // The listing says what is wrong with the folder.
    return undefined
  }
}

/** Whether the file is still there as it was read; on another disk it has another inode. */
function isUnchanged(parts: Parts, path: string): boolean {
  const [present, known] = [inFolder(parts, path), parts.ledger.known.at(path)]
  if (present === undefined || known === null) return false
  return present.size === known.identity.size && +present.mtime === modifiedAt(known.identity)
}

/**
 * What is not sent yet is as the rules say. Feeds that a rule expects are known before their first file, so that they
 * can be late.
 */
function followRules(
  { clock, history, ledger, ruleFor }: Parts,
  feeds: readonly FeedConfig[],
): void {
  ledger.followRules(ruleFor)
  expectFeeds(history, feeds, ruleFor, clock.now())
}
