// Opens the history for what a person decides. Apart from queries.ts, since who only asks loads nothing that
// writes.

import type { Config } from '../config/config.ts'
import { type Decision, decide, restore } from '../history/decisions.ts'
import { isLocked } from '../history/instance-lock.ts'
import { acceptFolder } from '../history/lost-history.ts'
import { openHistory } from '../history/sqlite-history.ts'
import type { Clock } from '../lib/clock.ts'
import { historyFile } from './queries.ts'

export type Decisions = ReturnType<typeof openDecisions>

/** Writes a person's decisions, beside a running daemon or without one. */
export function openDecisions(config: Config, clock: Clock) {
  const history = openHistory({ file: historyFile(config), clock })
  return {
    get daemonRuns() {
      return isLocked(config.state.directory)
    },
    decide: (id: number, decision: Decision) => decide(history, id, decision, clock.now()),
    restore: (id: number) => restore(history, id, clock.now()),
    /** What is in the folder is right as it is, although a history was lost; null: none was. */
    acceptFolder: () => acceptFolder(history, clock.now()),
    /** What a retry can be about: all that failed, or waits for its time. The decision refuses what is out of date. */
    retriable: () =>
      history
        .list({ states: ['failed', 'queued'], all: true })
        .filter(({ nextAttemptAt, state }) => state === 'failed' || nextAttemptAt !== null)
        .map(({ id }) => id)
        .reverse(),
    /** As the daemon has last recorded it. */
    serviceState: () => history.daemon()?.service ?? 'unknown',
    /** Hands a file to the running daemon; answers the number of the request. */
    request: (file: { path: string; source: string; feed: string | null }) =>
      history.addRequest({ ...file, at: clock.now() }).id,
    answer: (id: number) => history.request(id),
    version: (id: number) => history.version(id),
    [Symbol.dispose]: () => history[Symbol.dispose](),
  }
}
