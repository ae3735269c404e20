// Reads from the configuration the feed and the account of a path, and what the guards judge by.

import type { Config } from '../config/config.ts'
import { feedFor, type RuleFor } from '../config/feeds.ts'
import type { HistoryReader } from '../history/port.ts'
import type { Judging } from '../pipeline/account-facts.ts'

/**
 * rulesOf returns a function that finds the rule of a path. The history stores the configured account as null, so a
 * rule that names the configured account also gets null as its account.
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

/** judgingOf returns what the guards judge by from now on. All versions until now count as made under other rules. */
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
