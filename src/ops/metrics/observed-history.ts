// A history that tells of attempts, for the metrics: once the outermost transaction is through, so that
// what was rolled back is never heard of. Changes nothing about the writes. Moves are told by the ledger.

import type { Attempt, History } from '../../history/port.ts'
import type { AttemptOutcome } from '../../upload/port.ts'

export interface Witness {
  /** Another one of the same version; `previous` is null where nothing is known of it. */
  retried(previous: Attempt | null): void
  attemptEnded(attempt: { outcome: AttemptOutcome; status: number | null; ms: number }): void
}

/** It is asked for the attempt that ends and the one before: a version may have had thousands. */
const NEWEST = 2

export function observed(history: History, witness: Witness): History {
  let depth = 0
  let heard: (() => void)[] = []
  const tell = () => {
    const news = heard
    heard = []
    try {
      for (const each of news) each()
    } catch {
      // What was written is written: a count that is missed must not make it look failed.
    }
  }
  const hear = (news: () => void) => {
    heard.push(news)
    if (depth === 0) tell()
  }
  /** What `work` has to tell, apart from everybody else's. */
  const overhear = <T>(work: () => T): { done: T; news: (() => void)[] } => {
    const others = heard
    heard = []
    depth += 1
    try {
      return { done: work(), news: heard }
    } finally {
      depth -= 1
      heard = others
    }
  }
  const attempt = (id: number, n: number) =>
    history.attempts(id, NEWEST).find((each) => each.n === n) ?? null
  return {
    ...history,
    atomically: (work) => {
      const known = heard.length
      depth += 1
      try {
        return history.atomically(work)
      } catch (error) {
        heard.length = known
        throw error
      } finally {
        depth -= 1
        if (depth === 0) tell()
      }
    },
    commit: async (work, when) => {
      const { done, news } = await history.commit(() => overhear(work), when)
      for (const each of news) hear(each)
      return done
    },
    startAttempt: (id, ...rest) => {
      const n = history.startAttempt(id, ...rest)
      if (n > 1) hear(() => witness.retried(attempt(id, n - 1)))
      return n
    },
    endAttempt: (id, n, at, result) => {
      history.endAttempt(id, n, at, result)
      const { outcome, status } = result
      hear(() => {
        const ms = at - (attempt(id, n)?.startedAt ?? at)
        witness.attemptEnded({ outcome, status, ms: Math.max(0, ms) })
      })
    },
  }
}
