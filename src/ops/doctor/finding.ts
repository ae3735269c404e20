// What a check of `doctor` found: a sentence, and where it is not well, what to do about it.

export type Verdict = 'ok' | 'warning' | 'problem' | 'skipped'

export interface Finding {
  /** Short, stable name: `key file`, `clock`. */
  check: string
  verdict: Verdict
  /** What was found, a plain sentence. */
  says: string
  fix: string | null
  /** Exit code of the program when this is its worst; 0 unless it is a problem. */
  exitCode: number
}

export const ok = (check: string, says: string): Finding => {
  return { check, verdict: 'ok', says, fix: null, exitCode: 0 }
}

export const skipped = (check: string, says: string): Finding => {
  return { check, verdict: 'skipped', says, fix: null, exitCode: 0 }
}

export const warning = (check: string, says: string, fix: string): Finding => {
  return { check, verdict: 'warning', says, fix, exitCode: 0 }
}

export const problem = (check: string, says: string, fix: string | null, exitCode = 1): Finding => {
  return { check, verdict: 'problem', says, fix, exitCode }
}
