// How a version that an operator waits for has ended: a line on stdout, why and what next on stderr, an exit code.

import type { State, Version } from '../history/port.ts'
import { uploadReport } from '../history/report.ts'
import { EXIT } from '../lib/errors.ts'
import { nextStep, nextText } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import { type Context, tellError } from './context.ts'
import { printable } from './render.ts'

/** `commandLine` null: nothing was waited for. */
export function printEnd(
  context: Context,
  version: Version,
  commandLine: CommandLine | null,
): void {
  const { id, feed, state, fileUrl, reason } = version
  const where = fileUrl === null ? '' : `: ${fileUrl}`
  context.out(printable(`version ${id} of ${feed} is ${state}${where}`))
  if (state === 'uploaded' || commandLine === null) return
  const next = nextStep(uploadReport(version), context.clock.now(), commandLine)
  tellError(context, reason ?? state, nextText(next))
}

const EXIT_CODES: Record<State, number> = {
  uploaded: EXIT.ok,
  superseded: EXIT.ok,
  rejected: EXIT.notAllOk,
  held: EXIT.notAllOk,
  discarded: EXIT.notAllOk,
  failed: EXIT.failed,
  gone: EXIT.failed,
  settling: EXIT.temporary,
  incomplete: EXIT.temporary,
  checking: EXIT.temporary,
  queued: EXIT.temporary,
  uploading: EXIT.temporary,
}

export const exitCodeOf = (state: State): number => EXIT_CODES[state]
