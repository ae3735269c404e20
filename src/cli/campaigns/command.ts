// What the commands about campaigns have in common: the file, its keys, and who asks.

import type { CampaignsFile } from '../../app/campaigns.ts'
import { COMMAND } from '../../campaigns/judge.ts'
import type { CampaignWrite, Outcome } from '../../campaigns/port.ts'
import type { Result } from '../../campaigns/write.ts'
import { ConfigProblems } from '../../config/problems.ts'
import { EXIT, FeedsyncError } from '../../lib/errors.ts'
import { personName } from '../../lib/user.ts'
import type { Context } from '../context.ts'
import { type Call, unknownName, usageError } from '../define.ts'

/** A person stops a command by ending it. */
export const forever = new AbortController().signal

/** `maria: campaigns apply --lower`, for the history. */
export function byWhom({ env }: Context, command: string): string {
  return `${personName(env)}: campaigns ${command}`
}

export type ReadFile = Extract<CampaignsFile, { kind: 'read' }>

/** The file that was read. Throws `FeedsyncError` (78) where there is none, or none that can be used. */
export function usableFile(read: CampaignsFile): ReadFile {
  if (read.kind === 'read') return read
  if (read.kind === 'unusable') throw new ConfigProblems(read.lines)
  throw new FeedsyncError(`there is no campaigns file at ${read.file}, so none is managed`, {
    hint: 'write one as campaigns.example.yaml shows; to see what is there: feedsyncd campaigns export',
    exitCode: EXIT.config,
  })
}

/** The file, once it has not changed for two seconds. Throws as `usable` does. */
export async function stableFile({ config, context }: Call<unknown>): Promise<ReadFile> {
  const { stableCampaignsFile } = await import('../../app/campaigns.ts')
  return usableFile(await stableCampaignsFile(config, context.clock, forever))
}

export const keysOf = ({ entries }: Pick<ReadFile, 'entries'>) => entries.map(({ key }) => key)

/** Throws `FeedsyncError` (64) for an unknown key. */
export function checkKey(known: readonly string[], key: string, what = 'entry') {
  if (known.includes(key)) return
  throw unknownName(what, key, known, () => `${COMMAND} status lists the entries`)
}

/** Throws `FeedsyncError` (64) where nobody can be asked. */
export function checkTerminal({ ask }: Context, hint: string): NonNullable<Context['ask']> {
  if (ask !== null) return ask
  throw usageError('nothing was confirmed, and stdin is no terminal to ask on', hint)
}

/** Shows what would be sent, and asks. Throws `FeedsyncError` (64) where nobody can be asked. */
export async function confirmed(context: Context, text: string, hint: string): Promise<boolean> {
  const ask = checkTerminal(context, hint)
  context.err(text)
  if (await ask('send exactly this? [y/N] ')) return true
  context.err('nothing was sent')
  context.exit(EXIT.notAllOk)
  return false
}

const DONE = { bind: 'bound', create: 'created', update: 'updated', forget: 'forgotten' } as const

/** How a write ended, in a word or three. */
export function outcomeText(action: CampaignWrite['action'], outcome: Result['outcome'] | Outcome) {
  if (outcome === 'done') return DONE[action]
  return outcome === 'sending' ? 'unknown' : outcome.replaceAll('-', ' ')
}
