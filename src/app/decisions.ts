// The decisions of a person: release, discard, retry and restore a version, forget a feed. Each decision is one
// transaction on the history, and a running daemon finds the change there within two seconds. This file is separate
// from queries.ts, so that commands that only read load no code that writes.

import { type Config, historyFile } from '../config/config.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { OPEN, REPLACEABLE } from '../domain/states.ts'
import type { AfterLoss } from '../history/lost-history.ts'
import type { History, Version } from '../history/port.ts'
import { openHistory } from '../history/sqlite-history.ts'
import { type Paths, writeTransitions } from '../history/transitions.ts'
import type { Clock } from '../lib/clock.ts'
import { becomeOwnerOf } from '../lib/user.ts'
import { judgeHeldAnew } from '../pipeline/baselines.ts'
import { type Deed, decideDeed } from '../pipeline/decide/person.ts'
import { deedFacts } from '../pipeline/facts.ts'
import { markReceiptsPending } from '../pipeline/receipts.ts'
import { existingVersion, Refused } from './queries.ts'
import { judgingOf } from './rules.ts'

export type { Deed } from '../pipeline/decide/person.ts'

/** DecidedBy is who decided, and when (wall ms). `config` says whether the daemon is to write receipts. */
interface DecidedBy {
  by: string
  now: number
  config: Pick<Config, 'inbox'>
}

/** openForDecisions opens the history for writing, also beside a daemon. Root becomes the owner of the directory. */
export function openForDecisions(config: Config, clock: Clock) {
  becomeOwnerOf(config.state.directory)
  return openHistory({ file: historyFile(config), clock, isExpected: config.state.expectHistory })
}

/**
 * carryOut records the `deed` of a person and returns the version as it is afterwards; for `restore` it returns the new
 * version. Throws `Refused` if the deed does not apply to the version, or no version has this id.
 */
export function carryOut(
  history: History,
  { deed, id }: { deed: Deed; id: number },
  decidedBy: DecidedBy,
): Version {
  return history.atomically(() => {
    const version = existingVersion(history, id)
    const decided = decideDeed(deedFacts(history, version), deed, decidedBy.by)
    if (!Array.isArray(decided))
      throw new Refused(`${deed} version ${id}: ${decided.reason}`, { hint: decided.hint })
    const [first = version] = writeTransitions(decided, writingOf(history, decidedBy))
    return first
  })
}

/**
 * acceptFolder records that a person accepts the feeds of the folder after the history was lost. It releases the
 * plausible versions, and from then on first versions of feeds are sent without a question. Returns the versions as
 * they are afterwards; null if no history was lost.
 */
export function acceptFolder(history: History, decidedBy: DecidedBy): AfterLoss | null {
  return history.atomically(() => {
    const held = history.heldAfterLoss()
    if (held === null) return null
    history.endLoss()
    const release = ({ id }: Version) => carryOut(history, { deed: 'release', id }, decidedBy)
    return { ...held, plausible: held.plausible.map(release) }
  })
}

/**
 * keepAll records that, as a person says, the service keeps all feeds of these accounts. It judges again the versions
 * that the guard `second-feed` holds. Returns the versions that are queued by this.
 */
export function keepAll(
  history: History,
  accounts: readonly Version['account'][],
  decidedBy: DecidedBy & { config: Config },
): Version[] {
  if (accounts.length === 0) return []
  const { by, config, now } = decidedBy
  return history.atomically(() => {
    for (const account of accounts) history.setKeepsAll(account, { by, since: now })
    const freed: Version[] = []
    judgeHeldAnew(judgingOf(config, history), (transitions) => {
      const changed = writeTransitions(transitions, writingOf(history, decidedBy))
      freed.push(...changed.filter(({ state }) => state === 'queued'))
    })
    return freed
  })
}

/** forgetFeed hides a feed that has ended. Throws `Refused` while it has a file in the inbox or an open version. */
export function forgetFeed(history: History, feed: string, now: number): void {
  history.atomically(() => {
    const path = history.pathOf(feed)
    if (path !== null) {
      const hint = 'move the file out of the inbox, and wait for the next scan'
      throw new Refused(`forget ${feed}: its file ${path} is in the inbox`, { hint })
    }
    const [open] = history.list({ feed, states: OPEN, all: true, limit: 1 })
    if (open !== undefined) {
      const { id, state } = open
      const next = REPLACEABLE.includes(state)
        ? commandFor('discard <id...>', [id])
        : commandFor('show <what>', id)
      const reason = `forget ${feed}: version ${id} of it is ${state}`
      throw new Refused(reason, { hint: hintWith(null, next) })
    }
    history.forgetFeed(feed, now)
  })
}

/** writingOf returns what `writeTransitions` needs. Its `moved` only records receipts, which the daemon then writes. */
function writingOf(history: History, { config, now }: DecidedBy) {
  const moved = (each: Version) => {
    if (config.inbox.receipts) markReceiptsPending(history, each)
  }
  return { history, now, paths: pathsIn(history), moved }
}

/** pathsIn writes paths to the history alone. A daemon, which also has them in memory, finds the change there. */
const pathsIn = (history: History): Paths => ({
  link: (path, identity, versionId) => history.rememberPath({ path, identity, versionId }),
  unlink: history.forgetPath,
})
