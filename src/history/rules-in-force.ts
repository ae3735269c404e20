// What a change of the rules means for versions that are there. The account is where a version goes next, so it follows
// the rule of its path; the feed of known bytes stays, and bytes that nobody has read belong to the feed of the rule.

import type { Attempts, Version, Versions } from './port.ts'
import { WRONG_ACCOUNT } from './reason-codes.ts'
import { REPLACEABLE } from './states.ts'

/** What the rules say of a path: `FeedRule` of the configuration. */
export interface RuleInForce {
  feed: string
  account: string | null
}

type Ports = Versions & Pick<Attempts, 'attempts'>

/**
 * The version with the account that the rule of its path names. Where that rule names another feed, the version is not
 * the rule's: it keeps its account, unless nothing could be sent with that.
 */
export function withAccount(history: Ports, version: Version, rule: RuleInForce): Version {
  const { account, feed, id } = version
  if (account === rule.account) return version
  const isOurs =
    feed === rule.feed || WRONG_ACCOUNT.includes(history.attempts(id, 1)[0]?.code ?? '')
  if (!isOurs) return version
  return history.update(id, { account: rule.account })
}

/** The same for all that waits for its turn or for a person. */
export function updateAccounts(history: Ports, ruleFor: (path: string) => RuleInForce): void {
  for (const version of history.list({ states: REPLACEABLE, all: true }))
    withAccount(history, version, ruleFor(version.path))
}
