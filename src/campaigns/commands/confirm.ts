// What commands need to serve a person: the person's name, progress, the question for a confirmation, and how a write
// ended.

import { SECOND } from '../../lib/clock.ts'
import { EXIT } from '../../lib/errors.ts'
import { countOf } from '../../lib/units.ts'
import { personName } from '../../lib/user.ts'
import type { Context } from '../../terminal/context.ts'
import { usageError } from '../../terminal/define.ts'
import type { CampaignWrite, WriteOutcome } from '../port.ts'
import type { WriteResult } from '../write.ts'

/** `forever` is never aborted: a person stops a command by ending its process. */
export const forever = new AbortController().signal

/** byWhom returns who ran a command, for the history: `maria: campaigns apply --lower`. */
export function byWhom({ env }: Context, command: string): string {
  return `${personName(env)}: campaigns ${command}`
}

/** Progress is shown at most this often. A shorter listing shows none. */
const TELL_EVERY_MS = 2 * SECOND

/** withProgress returns the context with a function that tells a person at a terminal how many campaigns were read. */
export function withProgress(context: Context) {
  let toldAt = context.clock.monotonic()
  const onPage = (read: number, total: number | null) => {
    const now = context.clock.monotonic()
    if (!context.terminal || now - toldAt < TELL_EVERY_MS) return
    toldAt = now
    context.err(`${countOf(read)}${total === null ? '' : ` of ${countOf(total)}`} campaigns read`)
  }
  return { ...context, onPage }
}

/** checkTerminal returns the function that asks a person. Throws `FeedsyncError` (64) if stdin is not a terminal. */
export function checkTerminal({ ask }: Context, hint: string): NonNullable<Context['ask']> {
  if (ask !== null) return ask
  throw usageError('nobody confirmed this, and stdin is not a terminal', hint)
}

/**
 * askToConfirm shows what would be done, asks, and returns whether the person agreed. If not, it says that nothing was
 * sent and sets the exit code. Throws `FeedsyncError` (64) if stdin is not a terminal.
 */
export async function askToConfirm(
  context: Context,
  text: string,
  { hint, question = 'send exactly this? [y/N] ' }: { hint: string; question?: string },
): Promise<boolean> {
  const ask = checkTerminal(context, hint)
  context.err(text)
  if (await ask(question)) return true
  context.err('nothing was sent')
  context.exit(EXIT.notAllOk)
  return false
}

const DONE = {
  bind: 'bound',
  create: 'created',
  update: 'updated',
  forget: 'forgotten',
  seen: 'changed there',
} as const

/** outcomeText returns how a write ended, in one to three words. */
export function outcomeText(
  action: CampaignWrite['action'],
  outcome: WriteResult['outcome'] | WriteOutcome,
) {
  if (outcome === 'done') return DONE[action]
  return outcome === 'sending' ? 'unknown' : outcome.replaceAll('-', ' ')
}
