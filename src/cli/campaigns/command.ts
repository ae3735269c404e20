// What the commands about campaigns have in common: the file, the errors, and who asks.

import { userInfo } from 'node:os'
import type { CampaignsFile } from '../../app/campaigns.ts'
import type { PersonParts } from '../../campaigns/send.ts'
import { ConfigProblems } from '../../config/problems.ts'
import { EXIT, FeedsyncError } from '../../lib/errors.ts'
import type { Context } from '../context.ts'
import type { Call } from '../define.ts'

/** `maria: campaigns apply 12`, for the history. */
export function byWhom({ env }: Context, command: string): string {
  const name = env.SUDO_USER ?? env.USER ?? env.LOGNAME
  return `${name ?? userName()}: campaigns ${command}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown user'
  }
}

/** The file that was read. Throws `FeedsyncError` (78) where there is none, or none that can be used. */
export function usable(read: CampaignsFile): Extract<CampaignsFile, { kind: 'read' }> {
  if (read.kind === 'read') return read
  if (read.kind === 'unusable') throw new ConfigProblems(read.lines)
  throw new FeedsyncError(`there is no campaigns file at ${read.file}, so none is managed`, {
    hint: 'write one: feedsyncd campaigns export shows what is there, campaigns.example.yaml how',
    exitCode: EXIT.config,
  })
}

/**
 * A person's word or direct call: alone, under the guards of the file, and in the history as this command. Throws
 * `ConfigProblems` where the file cannot be used, unless `work` asks for it itself.
 */
export async function alone<T>(
  { context, config }: Call<unknown>,
  command: string,
  work: (parts: PersonParts) => Promise<T>,
  { needsFile = true } = {},
): Promise<T> {
  const { openReconciler, readCampaignsFile } = await import('../../app/campaigns.ts')
  const { NOTHING_DESIRED } = await import('../../campaigns/desired.ts')
  const file = readCampaignsFile(config)
  const desired = file.kind === 'read' ? file.desired : NOTHING_DESIRED
  const unusable = file.kind === 'unusable' ? new ConfigProblems(file.lines) : null
  if (needsFile && unusable !== null) throw unusable
  await using reconciler = openReconciler(config, context)
  const { signal } = new AbortController()
  return await reconciler.alone(() =>
    work({ ...reconciler, desired, unusable, by: byWhom(context, command), signal }),
  )
}
