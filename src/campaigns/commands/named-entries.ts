// The campaigns file and its entries, as the commands are called with them.

import { ConfigProblems } from '../../config/problems.ts'
import { commandFor, hintWith } from '../../domain/command.ts'
import { EXIT, FeedsyncError } from '../../lib/errors.ts'
import { type Call, unknownName } from '../../terminal/define.ts'
import type { CampaignsFile, ManagedFile, ReadCampaignsFile } from '../campaigns-file.ts'
import { forever } from './confirm.ts'

/** usableFile returns the file. Throws `FeedsyncError` (78) if it is missing or cannot be used. */
export function usableFile(read: CampaignsFile): ReadCampaignsFile {
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
export async function stableFile({ config, context }: Call<unknown>): Promise<ReadCampaignsFile> {
  const { stableCampaignsFile } = await import('../campaigns-file.ts')
  return usableFile(await stableCampaignsFile(config, context.clock, forever))
}

export const keysOf = ({ entries }: ManagedFile) => entries.map(({ key }) => key)

/** checkKey throws `FeedsyncError` (64) for an unknown key. */
export function checkKey(known: readonly string[], key: string, what = 'entry') {
  if (known.includes(key)) return
  throw unknownName(what, key, known, {
    next: hintWith('to see the entries', commandFor('campaigns status')),
  })
}
