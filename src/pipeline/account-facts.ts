// Reads what the rule about a further feed of an account needs (decide/second-feed.ts).

import { feedWithoutRule } from '../domain/feed-name.ts'
import { isTrial, likenessOf } from '../domain/likeness.ts'
import type { Accounts, HistoryReader, Version } from '../history/port.ts'
import type { AccountFacts } from './decide/second-feed.ts'
import type { GuardLimits } from './guards.ts'

/** Named is a version of a feed, or a file that is about to become one (without an `id`). */
export type Named = Pick<Version, 'account' | 'feed' | 'path'> & { id?: number }

/** Judging is what a judgement needs beside the version. */
export interface Judging {
  history: HistoryReader
  limits: GuardLimits
  /** The name of the configured account, for people. */
  ownAccount: string
  /** feedOf returns the feed of a path by the rules in force. */
  feedOf: (path: string) => string
  /** The newest version when these rules came into force: later versions never had another name. 0 if there was none. */
  lastUnderOtherRules: number
}

/**
 * accountFacts reads the facts for a version; `former` returns its `formerVersion`. Call it within the transaction that
 * writes the decision.
 */
export function accountFacts(
  judging: Judging,
  named: Named,
  former: () => Version | null,
): AccountFacts {
  const { history, limits, ownAccount } = judging
  const { account, feed } = named
  const beside = (likeness: string | null) =>
    history.rivals({ account, after: history.otherServiceUpTo(), feed, likeness })
  return {
    account: account ?? ownAccount,
    isKnown: isKnown(judging, named, former),
    get keepsAll() {
      return keepsAll(limits, history, account)
    },
    rivals: () => beside(null),
    alike: () => beside(isTrial(named) ? null : likenessOf(named)),
  }
}

/** keepsAll returns whether the configuration or a person says that the service keeps all feeds of an account. */
export function keepsAll(
  { secondFeed }: Pick<GuardLimits, 'secondFeed'>,
  history: Pick<Accounts, 'keepsAll'>,
  account: Version['account'],
): boolean {
  return secondFeed === 'pass' || history.keepsAll(account) !== null
}

/** isKnown returns whether the account got this feed before, under its name or the name before, or a person approved it. */
function isKnown(judging: Judging, named: Named, former: () => Version | null): boolean {
  const { history } = judging
  const last = history.confirmed(named.feed, named.id ?? 0)
  return isAtPresent(judging, named, last) || former() !== null
}

/**
 * formerVersion returns the last version of the feed that this one was before the rules gave its file another name, or
 * joined the files of several feeds. Of two feeds that were one, the one with the file of that version was it.
 */
export function formerVersion(judging: Judging, named: Named): Version | null {
  const { feedOf, history, lastUnderOtherRules: upTo } = judging
  if (upTo === 0) return null
  const after = history.otherServiceUpTo()
  if (upTo <= after) return null
  const { account, feed, id = 0, path } = named
  const byPath = feedWithoutRule(path)
  const likeness = likenessOf({ feed: byPath, path })
  const names = [history.feedBefore(named), byPath].filter((name) => name !== null && name !== feed)
  const found = [
    ...names.map((name) => history.confirmed(name ?? '', id)),
    ...history.alike({ account, feed, likeness, after, upTo }),
  ]
  const isIt = (version: Version | null): version is Version =>
    isAtPresent(judging, named, version) && feedOf(version.path) === feed
  return found.find(isIt) ?? null
}

/** isAtPresent returns whether the account of the present service has a version, or a person approved it. */
function isAtPresent(
  { history }: Judging,
  { account }: Named,
  version: Version | null,
): version is Version {
  return version !== null && version.account === account && version.id > history.otherServiceUpTo()
}
