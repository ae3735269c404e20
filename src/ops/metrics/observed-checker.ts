// A checker that tells of its verdicts, for the metrics. Changes nothing about the check.

import type { FeedChecker, Verdict } from '../../feed/port.ts'

export interface VerdictWitness {
  checked(verdict: Verdict): void
}

export function observedChecker<T extends Pick<FeedChecker, 'check' | 'compare'>>(
  checker: T,
  witness: VerdictWitness,
): Pick<FeedChecker, 'check' | 'compare'> {
  return {
    check: async (job, signal) => {
      const result = await checker.check(job, signal)
      if (result.kind === 'read') witness.checked(result.verdict)
      return result
    },
    compare: (...versions) => checker.compare(...versions),
  }
}
