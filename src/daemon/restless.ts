// Owns what happens with files that never stay the same: each is reported after a minute, and read as it is after
// `inbox.incompleteAfter`.

import type { Config } from '../config/config.ts'
import type { RuleFor } from '../config/feeds.ts'
import { NEVER_QUIET } from '../domain/reason-codes.ts'
import type { Reason } from '../history/port.ts'
import type { Restless, Settler } from '../inbox/settling.ts'
import { MINUTE } from '../lib/clock.ts'
import { formatDuration } from '../lib/units.ts'
import type { Ledger } from '../pipeline/ledger.ts'
import type { Candidate } from '../pipeline/pipeline.ts'

const REPORTED_AFTER_MS = MINUTE

interface RestlessParts {
  inboxConfig: Config['inbox']
  ledger: Ledger
  ruleFor: RuleFor
  settler: Settler
}

/**
 * restlessToRead records the reason at files that have been restless for a minute. It returns the files that have been
 * restless for `inbox.incompleteAfter`, to be read as they are, and drops them from the settler. `now` is in monotonic
 * ms.
 */
export async function restlessToRead(
  now: number,
  { inboxConfig, ledger, ruleFor, settler }: RestlessParts,
): Promise<Candidate[]> {
  const due = settler.restless(inboxConfig.incompleteAfterMs, now)
  for (const { path } of due) settler.drop(path)
  for (const { changed, identity, path } of settler.restless(REPORTED_AFTER_MS, now)) {
    const known = ledger.unreadAt(path)
    if (known === null || known.reasonCode === NEVER_QUIET) continue
    const origin = { path, identity, rule: ruleFor(path) }
    const reason = whyRestless(changed, inboxConfig)
    await ledger.commitFile(origin, { kind: 'restless', reason })
  }
  return due.map(({ path, identity }) => {
    return { path, identity, rule: ruleFor(path), final: false, isRestless: true }
  })
}

function whyRestless(
  changed: Restless['changed'],
  { incompleteAfterMs, quietPeriodMs }: Config['inbox'],
): Reason {
  const quiet = formatDuration(quietPeriodMs)
  return {
    code: NEVER_QUIET,
    reason: `it never stays the same for ${quiet} (inbox.quietPeriod): its ${changed} changes at each look`,
    hint: `feedsyncd reads it as it is after ${formatDuration(incompleteAfterMs)} (inbox.incompleteAfter); if a program touches or replaces it all the time, let it rename the file when it is complete`,
  }
}
