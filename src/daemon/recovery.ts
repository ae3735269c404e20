// What comes before the first look at the folder: what a crash left is put right, and what the rules
// expect is known.

import type { Config, FeedConfig } from '../config/config.ts'
import { expectFeeds } from '../history/expected-feeds.ts'
import { noteLoss } from '../history/lost-history.ts'
import { noteService } from '../history/other-service.ts'
import { ON_HOLD } from '../history/reason-codes.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'

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
    const hint = 'feedsyncd release --lost-history accepts what is in the folder as it is'
    log.warn(
      { event: 'history.lost', hint },
      'the history was lost or is older than the spool: each feed is held once',
    )
  }
  const { baseUrl, identity } = service
  // Histories have it in this form: in another one it would be another service.
  const who = { kind: 'partner' in identity ? 'partner' : 'account', ...identity }
  if (await history.commit(() => noteService(history, JSON.stringify([baseUrl, who])))) {
    const hint = 'feedsyncd restore ID sends an upload there now; so does its file, dropped again'
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
