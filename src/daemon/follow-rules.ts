// Applies the rules of the configuration at the start: they might have changed since the last run.

import type { FeedConfig } from '../config/config.ts'
import type { RuleFor } from '../config/feeds.ts'
import type { History } from '../history/port.ts'
import type { Log } from '../lib/log.ts'
import type { Judging } from '../pipeline/account-facts.ts'
import { judgeHeldAnew } from '../pipeline/baselines.ts'
import type { Ledger } from '../pipeline/ledger.ts'
import { expectFeeds } from './expect-feeds.ts'

interface FollowRulesParts {
  feeds: readonly FeedConfig[]
  history: History
  judging: Judging
  ledger: Ledger
  log: Log
  ruleFor: RuleFor
}

/**
 * followRules applies the current rules to unsent versions, adds expected feeds so that they can be late, and judges
 * anew the versions that the guard `second-feed` holds. It logs an error and does not throw it.
 */
export async function followRules({
  feeds,
  history,
  judging,
  ledger,
  log,
  ruleFor,
}: FollowRulesParts): Promise<void> {
  try {
    await history.commit(() => {
      ledger.followRules(ruleFor)
      expectFeeds({ history, ledger }, feeds, ruleFor)
      judgeHeldAnew(judging, (transitions) => void ledger.write(transitions))
    })
  } catch (error) {
    // The daemon can run without this step; the next start tries again.
    log.error(
      { event: 'history.expected-unrecorded', err: error },
      'expected feeds were not recorded',
    )
  }
}
