// The result of one check of `doctor`: a sentence, and a fix if something is wrong.

import { EXIT, FeedsyncError, messageOf } from '../../lib/errors.ts'

export interface CheckFinding {
  /** Short, stable name: `key file`, `clock`. */
  check: string
  verdict: 'ok' | 'warning' | 'problem' | 'skipped'
  /** The result as a plain sentence. */
  says: string
  fix: string | null
  /** Exit code of `doctor` if this is its worst finding; 0 if it is not a problem. */
  exitCode: number
}

export type CheckAnswer = Omit<CheckFinding, 'check'>

export const ok = (says: string): CheckAnswer => ({ verdict: 'ok', says, fix: null, exitCode: 0 })

export const skipped = (says: string): CheckAnswer => ({ ...ok(says), verdict: 'skipped' })

export const warning = (says: string, fix: string): CheckAnswer => {
  return { verdict: 'warning', says, fix, exitCode: 0 }
}

export const problem = (says: string, fix: string | null, exitCode = 1): CheckAnswer => {
  return { verdict: 'problem', says, fix, exitCode }
}

/** failed returns the finding for an error that a check threw. The exit code of an error without one is 78. */
export function failed(error: unknown): CheckAnswer {
  const { hint = null, exitCode = EXIT.config } = error instanceof FeedsyncError ? error : {}
  return problem(messageOf(error), hint, exitCode)
}

/** check yields the answer under the check's name. An error becomes a finding; null yields nothing. */
export async function* check(
  name: string,
  ask: () => CheckAnswer | null | Promise<CheckAnswer | null>,
): AsyncGenerator<CheckFinding> {
  try {
    const found = await ask()
    if (found !== null) yield { check: name, ...found }
  } catch (error) {
    yield { check: name, ...failed(error) }
  }
}
