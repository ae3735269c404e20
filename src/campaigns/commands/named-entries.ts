// Reads the campaigns file for the commands, and finds the entries that a person names.

import { ConfigProblems } from '../../config/problems.ts'
import { commandFor, hintWith } from '../../domain/command.ts'
import { EXIT, FeedsyncError } from '../../lib/errors.ts'
import { type Call, unknownName } from '../../terminal/define.ts'
import type { CampaignsFile, ReadCampaignsFile } from '../campaigns-file.ts'
import type { Entry } from '../desired.ts'
import { forever } from './confirm.ts'

/** usableFile returns the file. Throws `FeedsyncError` (78) if it is missing or cannot be used. */
function usableFile(read: CampaignsFile): ReadCampaignsFile {
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

/** currentEntries returns the entries of the file as it is now. Throws like `usableFile`. */
export async function currentEntries({ config }: Call<unknown>): Promise<readonly Entry[]> {
  const { readCampaignsFile } = await import('../campaigns-file.ts')
  return usableFile(readCampaignsFile(config)).entries
}

/** currentEntry returns one entry of the file as it is now. Throws `FeedsyncError` (64) for an unknown key. */
export async function currentEntry(call: Call<unknown>, key: string): Promise<Entry> {
  const entries = await currentEntries(call)
  const entry = entries.find((one) => one.key === key)
  if (entry === undefined) throw unknownKey(keysOf(entries), key)
  return entry
}

/** stableFile returns the file after two seconds without a change. Throws like `usableFile`. */
export async function stableFile({ config, context }: Call<unknown>): Promise<ReadCampaignsFile> {
  const { stableCampaignsFile } = await import('../campaigns-file.ts')
  return usableFile(await stableCampaignsFile(config, context.clock, forever))
}

export const keysOf = (entries: readonly Entry[]) => entries.map(({ key }) => key)

/** checkKey throws `FeedsyncError` (64) for an unknown key. */
export function checkKey(known: readonly string[], key: string, what = 'entry') {
  if (!known.includes(key)) throw unknownKey(known, key, what)
}

function unknownKey(known: readonly string[], key: string, what = 'entry') {
  const next = hintWith('to see the entries', commandFor('campaigns status'))
  return unknownName(what, key, { known, next })
}
