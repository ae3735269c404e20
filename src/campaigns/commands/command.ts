// What the commands about campaigns share: reading the file, checking keys, and asking the person.

import { ConfigProblems } from '../../config/problems.ts'
import { commandFor, hintWith } from '../../domain/command.ts'
import { SECOND } from '../../lib/clock.ts'
import { EXIT, FeedsyncError } from '../../lib/errors.ts'
import { countOf } from '../../lib/units.ts'
import { personName } from '../../lib/user.ts'
import type { Context } from '../../terminal/context.ts'
import { type Call, unknownName, usageError } from '../../terminal/define.ts'
import type { CampaignsFile } from '../open.ts'
import type { CampaignWrite, Outcome } from '../port.ts'
import type { Result } from '../write.ts'

/** `forever` is never aborted: a person stops a command by ending its process. */
export const forever = new AbortController().signal

/** byWhom returns who ran a command, for the history: `maria: campaigns apply --lower`. */
export function byWhom({ env }: Context, command: string): string {
  return `${personName(env)}: campaigns ${command}`
}

/** Progress is told this long after the last line, so that a short listing tells nothing. */
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

export type ReadFile = Extract<CampaignsFile, { kind: 'read' }>

/** usableFile returns the file. Throws `FeedsyncError` (78) if it is missing or cannot be used. */
export function usableFile(read: CampaignsFile): ReadFile {
  if (read.kind === 'read') return read
  if (read.kind === 'unusable') throw new ConfigProblems(read.lines)
  throw new FeedsyncError(`there is no campaigns file at ${read.file}, so no campaign is managed`, {
    hint: hintWith(
      'write one like campaigns.example.yaml, or begin with what exists',
      commandFor('campaigns export'),
    ),
    exitCode: EXIT.config,
  })
}

/** stableFile returns the file after two seconds without a change. Throws like `usableFile`. */
export async function stableFile({ config, context }: Call<unknown>): Promise<ReadFile> {
  const { stableCampaignsFile } = await import('../open.ts')
  return usableFile(await stableCampaignsFile(config, context.clock, forever))
}

export const keysOf = ({ entries }: Pick<ReadFile, 'entries'>) => entries.map(({ key }) => key)

/** checkKey throws `FeedsyncError` (64) for an unknown key. */
export function checkKey(known: readonly string[], key: string, what = 'entry') {
  if (known.includes(key)) return
  throw unknownName(what, key, known, {
    next: hintWith('to see the entries', commandFor('campaigns status')),
  })
}

/** checkTerminal returns how to ask a person. Throws `FeedsyncError` (64) without a terminal. */
export function checkTerminal({ ask }: Context, hint: string): NonNullable<Context['ask']> {
  if (ask !== null) return ask
  throw usageError('nobody confirmed this, and stdin is not a terminal', hint)
}

/** confirmed shows what would be done, and asks. Throws `FeedsyncError` (64) without a terminal. */
export async function confirmed(
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
export function outcomeText(action: CampaignWrite['action'], outcome: Result['outcome'] | Outcome) {
  if (outcome === 'done') return DONE[action]
  return outcome === 'sending' ? 'unknown' : outcome.replaceAll('-', ' ')
}
