// Reports the result of a version that an operator waits for: a line on stdout, the reason and the next step on stderr,
// and an exit code.

import { OLDER } from '../domain/reason-codes.ts'
import { IN_WORK } from '../domain/states.ts'
import type { Version } from '../history/port.ts'
import { EXIT } from '../lib/errors.ts'
import { printable } from '../lib/printable.ts'
import { nextSteps, stepText } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import type { VersionFacts } from '../ops/version-report.ts'
import { type Context, printError } from '../terminal/context.ts'

/**
 * printEnd prints the state of a version and, unless it was uploaded, its reason and next step as an error. It prints
 * no error if `commandLine` is null, because then the command did not wait for the result.
 */
export function printEnd(
  context: Context,
  version: VersionFacts,
  commandLine: CommandLine | null,
): void {
  const { id, feed, state, fileUrl, reason } = version
  const where = fileUrl === null ? '' : `: ${fileUrl}`
  context.out(printable(`version ${id} of ${feed} is ${state}${where}`))
  if (state === 'uploaded' || commandLine === null) return
  const next = nextSteps(version, { now: context.clock.now(), commandLine })
  printError(context, reason ?? state, stepText(next))
}

export function exitCodeOf({ reasonCode, state }: Version): number {
  if (IN_WORK.includes(state)) return EXIT.temporary
  // A newer version was sent instead of a superseded one, unless the date in its file's name made it too old to send.
  if (state === 'superseded') return reasonCode === OLDER ? EXIT.notAllOk : EXIT.ok
  if (state === 'uploaded') return EXIT.ok
  return state === 'failed' || state === 'gone' ? EXIT.failed : EXIT.notAllOk
}
