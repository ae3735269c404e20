// What the configuration says of the feed and the account of a path, and by what the guards judge.

import type { Config } from '../config/config.ts'
import { feedFor, type RuleFor } from '../config/feeds.ts'
import type { HistoryReader } from '../history/port.ts'
import type { Judging } from '../pipeline/account-facts.ts'

/**
 * rulesOf returns the rules of the configuration. The configured account has no name of its own in the history: a rule
 * that names it names no other account.
 */
export const rulesOf =
  ({ feeds, service }: Pick<Config, 'feeds' | 'service'>): RuleFor =>
  (path, named) => {
    const rule = feedFor(path, feeds, named)
    const { identity } = service
    const isOwn = 'partner' in identity && rule.account === identity.partnerAccount
    return isOwn ? { ...rule, account: null } : rule
  }

/** ownAccountOf returns the name of the configured account, for people. */
export function ownAccountOf({ service: { identity } }: Pick<Config, 'service'>): string {
  return 'partner' in identity ? (identity.partnerAccount ?? identity.partner) : identity.account
}

/** judgingOf returns what the guards judge by under this configuration, which is in force from now on. */
export function judgingOf(
  config: Pick<Config, 'feeds' | 'guards' | 'service'>,
  history: HistoryReader,
): Judging {
  const ruleFor = rulesOf(config)
  return {
    history,
    limits: config.guards,
    ownAccount: ownAccountOf(config),
    feedOf: (path) => ruleFor(path).feed,
    lastUnderOtherRules: history.list({ all: true, limit: 1 })[0]?.id ?? 0,
  }
}
