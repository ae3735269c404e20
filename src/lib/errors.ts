// The errors that reach a person: two lines, what failed and what to try. Expected outcomes are
// values; an exception means that a command or the daemon cannot go on.

import { constants } from 'node:os'
import type { ConditionCode } from './conditions.ts'

/** Every exit code of the program, as documented in the README. One that is not listed here must be treated as a failure. */
export const EXIT = {
  ok: 0,
  failed: 1,
  changesPending: 2,
  notAllOk: 3,
  credentials: 4,
  usage: 64,
  temporary: 75,
  config: 78,
  interrupted: 130,
  terminated: 143,
} as const

export class FeedsyncError extends Error {
  override name = 'FeedsyncError'
  /** What to try next: one sentence, printed on the second line. */
  readonly hint: string | null
  readonly exitCode: number
  /** What it means for a daemon that meets it; null where it concerns the command alone. */
  readonly condition: ConditionCode | null

  constructor(
    message: string,
    options: { hint?: string; exitCode?: number; condition?: ConditionCode; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.hint = options.hint ?? null
    this.exitCode = options.exitCode ?? 1
    this.condition = options.condition ?? null
  }
}

/**
 * Whether time or a person can correct it: a disk, a database, the configuration. Anything else is a
 * fault of the program, which repetition does not correct.
 */
export function isRetryable(error: unknown): error is FeedsyncError {
  return error instanceof FeedsyncError && error.exitCode !== 1
}

/** The system's code of a failed call (`ENOENT`, `ENOSPC`, `ECONNRESET`, `SQLITE_BUSY`), or null. */
export function errorCode(error: unknown, depth = 10): string | null {
  if (!(error instanceof Error) || depth === 0) return null
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return typeof code === 'string' ? systemCode(code, errno) : errorCode(error.cause, depth - 1)
}

/** libuv has no name for some of the system's errors (ESTALE, EDQUOT), and Node has two ways to say so. */
const UNNAMED = /^(UNKNOWN$|Unknown system error -\d+$)/

function systemCode(code: string, errno: unknown): string {
  if (!UNNAMED.test(code)) return code
  const number = /\d+$/.exec(code)?.[0] ?? String(errno).slice(1)
  const named = Object.entries(constants.errno).find(([, known]) => String(known) === number)
  return named?.[0] ?? code
}

/** What the system said: `ENOSPC: no space left on device`, without the call and the path it was about. */
export function systemReason(error: unknown): string {
  const said = messageOf(error).replace(/, [a-z]+(?: '.*')?$/s, '')
  const [code = ''] = said.split(':', 1)
  return UNNAMED.test(code) ? (errorCode(error) ?? said) : said
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
