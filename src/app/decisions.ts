// Opens the history for what a person decides. Apart from tools.ts, since who only asks loads nothing that
// writes.

import type { Config } from '../config/config.ts'
import { type Decided, type Decision, decide, restore } from '../history/decisions.ts'
import { isLocked } from '../history/instance-lock.ts'
import { acceptFolder } from '../history/lost-history.ts'
import type { ServiceState, UploadRequest, Version } from '../history/port.ts'
import { openHistory } from '../history/sqlite-history.ts'
import type { Clock } from '../lib/clock.ts'
import { historyFile } from './queries.ts'

/** Writes a person's decisions, beside a running daemon or without one. */
export interface Decisions extends Disposable {
  readonly daemonRuns: boolean
  decide(id: number, decision: Decision): Decided
  restore(id: number): Decided
  /** What is in the folder is right as it is, although a history was lost; null: none was. */
  acceptFolder(): Version[] | null
  /** What a retry can be about: all that failed, or waits for its time. */
  retriable(): number[]
  /** As the daemon has last recorded it. */
  serviceState(): ServiceState
  /** Hands a file to the running daemon; answers the number of the request. */
  request(file: { path: string; source: string; feed: string | null }): number
  answer(request: number): UploadRequest | null
  version(id: number): Version | null
}

export function openDecisions(config: Config, clock: Clock): Decisions {
  const history = openHistory({ file: historyFile(config), clock })
  return {
    get daemonRuns() {
      return isLocked(config.state.directory)
    },
    decide: (id, decision) => decide(history, id, decision, clock.now()),
    restore: (id) => restore(history, id, clock.now()),
    acceptFolder: () => acceptFolder(history, clock.now()),
    retriable: () =>
      history
        .list({ states: ['failed', 'queued'], all: true })
        .filter(({ feed, id, nextAttemptAt, state }) =>
          state === 'queued' ? nextAttemptAt !== null : history.newest(feed)?.id === id,
        )
        .map(({ id }) => id)
        .reverse(),
    serviceState: () => history.daemon()?.service ?? 'unknown',
    request: (file) => history.addRequest({ ...file, at: clock.now() }).id,
    answer: (id) => history.request(id),
    version: (id) => history.version(id),
    [Symbol.dispose]: () => history[Symbol.dispose](),
  }
}
