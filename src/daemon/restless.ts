// What becomes of files that never stay the same: each is named after a minute, and read as it is after
// `inbox.incompleteAfter`.

import { NEVER_QUIET } from '../domain/reason-codes.ts'
import type { Restless, Settler } from '../inbox/settling.ts'
import { MINUTE } from '../lib/clock.ts'
import { formatDuration } from '../lib/units.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { Candidate } from '../pipeline/pipeline.ts'

const NAMED_AFTER_MS = MINUTE

export interface RestlessParts extends Parts {
  settler: Settler
}

/** restlessToRead names restless files, and returns those to read as they are. */
export async function restlessToRead(parts: RestlessParts): Promise<Candidate[]> {
  const { clock, config, ruleFor, settler } = parts
  const now = clock.monotonic()
  const due = settler.restless(config.inbox.incompleteAfterMs, now)
  for (const { path } of due) settler.drop(path)
  for (const file of settler.restless(NAMED_AFTER_MS, now)) await name(file, parts)
  return due.map(({ path, identity }) => {
    return { path, identity, rule: ruleFor(path), final: false, isRestless: true }
  })
}

async function name({ changed, identity, path }: Restless, parts: RestlessParts): Promise<void> {
  const { config, history, ledger, ruleFor } = parts
  const known = history.pendingVersionAt(path)
  if (known === null || known.reasonCode === NEVER_QUIET) return
  const { incompleteAfterMs, quietPeriodMs } = config.inbox
  const quiet = formatDuration(quietPeriodMs)
  const reason = {
    code: NEVER_QUIET,
    text: `it never stays the same for ${quiet} (inbox.quietPeriod): its ${changed} changes at each look`,
    hint: `feedsyncd reads it as it is after ${formatDuration(incompleteAfterMs)} (inbox.incompleteAfter); if a program touches or replaces it all the time, let it rename the file when it is complete`,
  }
  const origin = { path, identity, rule: ruleFor(path) }
  await history.commit(() => ledger.writeFile(origin, { kind: 'restless', reason }))
}
