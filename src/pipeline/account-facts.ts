// Reads the facts for the decision whether a further feed of an account is held (decide/second-feed.ts).

import { feedWithoutRule } from '../domain/feed-name.ts'
import { isTrial, likenessOf } from '../domain/likeness.ts'
import type { Accounts, HistoryReader, Version } from '../history/port.ts'
import type { AccountFacts, AskingFeed } from './decide/second-feed.ts'
import type { GuardLimits } from './guards.ts'

export type Named = AskingFeed & Pick<Version, 'account'>

/** Judging is what the guards need beside the version that they judge. */
export interface Judging {
  history: HistoryReader
  limits: GuardLimits
  /** The name of the configured account, for people. */
  ownAccount: string
  /** feedOf returns the feed of a path by the rules in force. */
  feedOf: (path: string) => string
  /** The id of the newest version when these rules came into force, or 0. Later versions had no other feed before. */
  lastUnderOtherRules: number
}

/**
 * accountFacts reads what `secondFeed` must know of the account of a version. `former` returns the `formerVersion` of
 * that version. Call it within the transaction that writes the decision.
 */
export function accountFacts(
  judging: Judging,
  named: Named,
  former: () => Version | null,
): AccountFacts {
  const { history, limits, ownAccount } = judging
  const { account, feed } = named
  const beside = (likeness: string | null) => history.rivals({ account, feed, likeness })
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
  history: Pick<Accounts, 'whoSaidKeepsAll'>,
  account: Version['account'],
): boolean {
  return secondFeed === 'pass' || history.whoSaidKeepsAll(account) !== null
}

/** isKnown returns whether the account got this feed before, also by another name, or a person approved the feed. */
function isKnown(judging: Judging, named: Named, former: () => Version | null): boolean {
  const { history } = judging
  const last = history.confirmed(named.feed, named.id ?? 0)
  return belongsHere(judging, named, last) || former() !== null
}

/**
 * formerVersion returns the last version of the feed to which this file belonged before the rules changed: the rules
 * gave the file another feed, joined several feeds, or split a feed. After a split, the feed that now has the file of
 * the former version continues the former feed. Returns null if the file had no other feed.
 */
export function formerVersion(judging: Judging, named: Named): Version | null {
  const { feedOf, history, lastUnderOtherRules: upTo } = judging
  if (upTo === 0) return null
  if (upTo <= history.otherServiceUpTo()) return null
  const { account, feed, id = 0, path } = named
  const byPath = feedWithoutRule(path)
  const likeness = likenessOf({ feed: byPath, path })
  const names = [history.feedBefore(named), byPath].filter((name) => name !== null && name !== feed)
  const found = [
    ...names.map((name) => history.confirmed(name ?? '', id)),
    ...history.alike({ account, feed, likeness, upTo }),
  ]
  const isFormer = (version: Version | null): version is Version =>
    belongsHere(judging, named, version) && feedOf(version.path) === feed
  return found.find(isFormer) ?? null
}

/** belongsHere returns whether a version belongs to this account of the current service; false for null. */
function belongsHere(
  { history }: Judging,
  { account }: Named,
  version: Version | null,
): version is Version {
  return version !== null && version.account === account && version.id > history.otherServiceUpTo()
}
