// A history that tells of attempts, for the metrics: once the outermost transaction is through, so that
// what was rolled back is never heard of. Changes nothing about the writes. Moves are told by the ledger.

import type { Attempt, History } from '../history/port.ts'
import type { AttemptOutcome } from '../upload/port.ts'

export interface Witness {
  /** Another one of the same version; `previous` is null where nothing is known of it. */
  retried(previous: Attempt | null): void
  attemptEnded(attempt: { outcome: AttemptOutcome; status: number | null; ms: number }): void
}

export function observed(history: History, witness: Witness): History {
  let depth = 0
  let heard: (() => void)[] = []
  const tell = () => {
    const news = heard
    heard = []
    for (const each of news) each()
  }
  const hear = (news: () => void) => {
    heard.push(news)
    if (depth === 0) tell()
  }
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
    startAttempt: (id, ...rest) => {
      const n = history.startAttempt(id, ...rest)
      const previous = n === 1 ? undefined : history.attempts(id).find((other) => other.n === n - 1)
      if (n > 1) hear(() => witness.retried(previous ?? null))
      return n
    },
    endAttempt: (id, n, at, result) => {
      history.endAttempt(id, n, at, result)
      const startedAt = history.attempts(id).find((other) => other.n === n)?.startedAt ?? at
      const { outcome, status } = result
      hear(() => witness.attemptEnded({ outcome, status, ms: Math.max(0, at - startedAt) }))
    },
  }
}
