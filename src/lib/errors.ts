// The errors that reach a person, in two lines: what failed, and what to try. Expected outcomes are values; an
// exception means that a command or the daemon cannot go on.

import { constants } from 'node:os'

/** EXIT holds every exit code of the program, as the README documents them. Any other code means a failure. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** Changes are pending (`plan`), or two versions differ (`diff`). */
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

  constructor(
    message: string,
    options: { hint?: string; exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.hint = options.hint ?? null
    this.exitCode = options.exitCode ?? 1
  }
}

/**
 * isRetryable returns whether time or a person can correct the error: a disk, a database, the configuration. Any other
 * error is a fault of the program, and a retry does not help.
 */
export function isRetryable(error: unknown): error is FeedsyncError {
  return error instanceof FeedsyncError && error.exitCode !== 1
}

/** errorCode returns the code of a failed call (`ENOENT`, `SQLITE_BUSY`), from the error or its causes, or null. */
export function errorCode(error: unknown, depth = 10): string | null {
  if (!(error instanceof Error) || depth === 0) return null
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return typeof code === 'string' ? systemCode(code, errno) : errorCode(error.cause, depth - 1)
}

/** Node writes one of these two forms if libuv has no name for a system error (ESTALE, EDQUOT). */
const UNNAMED = /^(UNKNOWN$|Unknown system error -\d+$)/

function systemCode(code: string, errno: unknown): string {
  if (!UNNAMED.test(code)) return code
  const number = /\d+$/.exec(code)?.[0] ?? String(errno).slice(1)
  const named = Object.entries(constants.errno).find(([, known]) => String(known) === number)
  return named?.[0] ?? code
}

/** systemReason returns the system's words, `ENOSPC: no space left on device`, without the call and the path. */
export function systemReason(error: unknown): string {
  const said = messageOf(error).replace(/, [a-z]+(?: '.*')?$/s, '')
  const [code = ''] = said.split(':', 1)
  return UNNAMED.test(code) ? (errorCode(error) ?? said) : said
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
