// Decides whether a version may take the place of another feed of its account. A form for an upload names the account,
// but not the feed. A service might therefore keep only the last file of an account, and each export of one feed would
// remove the postings of the other. A further feed waits until a person says that the service keeps all feeds of the
// account. A name that looks like the name of another feed is held in any case: it is probably a copy of that feed, or
// its next export under another name. Pure.

import { furtherFeedHint } from '../../domain/further-feed.ts'
import { type Alike, howAlike, isCopy, rulesFor } from '../../domain/likeness.ts'
import { JUDGED_ANEW, LOOK_ALIKE, SECOND_FEED } from '../../domain/reason-codes.ts'
import type { Rival, Transition, Version } from '../../history/port.ts'
import { excludeLine } from '../../lib/glob.ts'
import { countOf } from '../../lib/units.ts'
import { type Placed, replaced } from './replace.ts'
import type { Held } from './sending.ts'

/** AccountFacts is what the rule needs to know beside the version. Facts that few files need are functions. */
export interface AccountFacts {
  /** The account as its operator calls it. */
  account: string
  /** The account got this feed before, or a person released or restored a version of it. */
  isKnown: boolean
  /** The configuration or a person says that the service keeps all feeds of the account. */
  keepsAll: boolean
  rivals(): readonly Rival[]
  /** alike returns the rivals whose names look like the name of this feed. */
  alike(): readonly Rival[]
}

/** AskingFeed is a version, or a file that is about to become one (without an id). */
export type AskingFeed = Pick<Version, 'feed' | 'path'> & { id?: number }

/** secondFeed returns why a version is held beside the other feeds of its account; null if it may be sent. */
export function secondFeed(own: AskingFeed, facts: AccountFacts): Held | null {
  if (facts.isKnown) return null
  const alike = goingFirst(own, facts.alike())
  if (alike !== null) return heldAsLookAlike(own, alike)
  const rival = facts.keepsAll ? null : goingFirst(own, facts.rivals())
  return rival && heldBeside(own, rival, facts.account)
}

/**
 * goingFirst returns a rival that goes first, or null. Of two unknown feeds that wait, the feed with the lower version
 * id goes first.
 */
function goingFirst({ id }: AskingFeed, rivals: readonly Rival[]): Rival | null {
  const first = rivals.filter((rival) => rival.goesFirst || id === undefined || rival.id < id)
  return first.find(({ state }) => state === 'uploaded') ?? first[0] ?? null
}

function heldBeside({ path }: AskingFeed, rival: Rival, account: string): Held {
  const verb = rival.state === 'uploaded' ? 'has' : 'gets'
  const count = countOf(rival.postings ?? 0, 'posting')
  return {
    guard: 'second-feed',
    code: SECOND_FEED,
    reason: `account ${account} already ${verb} ${rival.feed} (${count}), and the service might keep only the last file of an account`,
    hint: furtherFeedHint([path]),
  }
}

function heldAsLookAlike({ feed, path }: AskingFeed, rival: Rival): Held {
  const how = howAlike(feed, rival.feed)
  const texts: Record<Alike, string> = {
    case: `its name differs from ${rival.feed} only in capital letters`,
    copy: isCopy(feed)
      ? `it is named like a copy of ${rival.feed}`
      : `${rival.feed} is named like a copy of it`,
    numbers: `its name differs from ${rival.feed} only in numbers, so that no guard compares the two`,
    trial: `this file or ${rival.feed} is named like a trial or an old file`,
  }
  const { each, one } = rulesFor(feed, rival.feed)
  const hint =
    how === 'numbers'
      ? `if they are exports of one feed, set ${one}; if each is a feed of its own, set ${each}, or release this one. Then restart feedsyncd`
      : `if it is a feed of its own, release it. If not, discard it, remove the file, or set ${excludeLine([path])} under inbox`
  return { guard: 'second-feed', code: LOOK_ALIKE, reason: texts[how], hint }
}

/**
 * heldAnew returns what another judgement means for a version that the guard `second-feed` holds: the version is
 * queued, or is held for what the guards find now. `waiting` are the versions of its feed whose place it can take.
 */
export function heldAnew(
  { id }: Pick<Version, 'id'>,
  held: Held | null,
  waiting: readonly Placed[],
): Transition[] {
  if (held === null) {
    const reason = 'it was judged anew, and no guard holds it'
    return [
      { kind: 'move', id, to: 'queued', reason: { code: JUDGED_ANEW, reason } },
      ...replaced(waiting, id, 'queued'),
    ]
  }
  const { guard, ...why } = held
  return [{ kind: 'set', id, patch: { guard }, reason: why }]
}
