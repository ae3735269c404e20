// Reads the campaigns file from disk, and tells when its content changes.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { formatProblem } from '../config/problems.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { errorCode, messageOf } from '../lib/errors.ts'
import { readRegular, stampOf } from '../lib/files.ts'
import { type Entry, readDesired } from './desired.ts'

export type CampaignsFile =
  /** There is no file at the default path, so no campaign is managed. */
  | { kind: 'off'; file: string }
  /** The file cannot be used, which stops every campaign write. Each line says what is wrong, and where. */
  | { kind: 'unusable'; file: string; lines: string[] }
  | ReadCampaignsFile

/** ManagedFile is the content of a campaigns file. */
export interface ManagedFile {
  entries: readonly Entry[]
  fileSha256: string
  /** The file ends in a line break. */
  isEnded: boolean
}

export interface ReadCampaignsFile extends ManagedFile {
  kind: 'read'
  file: string
}

/** The file is read after this time without a change, because an editor can write it in several steps. */
const STABLE_MS = 2 * SECOND
const LONGEST_WAIT_MS = 60 * SECOND
const LARGEST_BYTES = 8 * 1024 * 1024
const LINE_BREAK = 0x0a

export function readCampaignsFile({ campaigns }: Config): CampaignsFile {
  const { file, explicit } = campaigns
  const unusable = (why: string): CampaignsFile => ({
    kind: 'unusable',
    file,
    lines: [`${file} ${why}`],
  })
  let bytes: Buffer
  try {
    bytes = readRegular(file, LARGEST_BYTES)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' && !explicit) return { kind: 'off', file }
    if (code === null) return unusable(messageOf(error))
    return unusable(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`)
  }
  if (!isUtf8(bytes)) return unusable('is not UTF-8')
  const reading = readDesired(bytes.toString('utf8'))
  const fileSha256 = sha256Of(bytes)
  if (reading.kind === 'desired')
    return {
      kind: 'read',
      file,
      entries: reading.entries,
      fileSha256,
      isEnded: bytes.at(-1) === LINE_BREAK,
    }
  const lines = reading.problems.map((problem) => formatProblem(file, problem))
  return { kind: 'unusable', file, lines }
}

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/**
 * stableCampaignsFile reads the file after two seconds without a change. A file that still changes after a minute, or
 * when `signal` is aborted, is unusable.
 */
export async function stableCampaignsFile(
  config: Config,
  clock: Clock,
  signal: AbortSignal,
): Promise<CampaignsFile> {
  const { file } = config.campaigns
  const began = clock.monotonic()
  const content = contentStampOf(file)
  let since = began
  for (let known = content(); ; ) {
    const changedAt = stampOf(file)?.changedAt
    const age = changedAt === undefined ? STABLE_MS : clock.now() - changedAt
    // An old time stamp is enough, and so is unchanged text: a job can touch the file again and again, or date it
    // ahead.
    const rested = Math.max(age, clock.monotonic() - since)
    if (rested >= STABLE_MS) {
      const read = readCampaignsFile(config)
      if (content() === known) return read
    }
    if (clock.monotonic() - began > LONGEST_WAIT_MS || signal.aborted)
      return { kind: 'unusable', file, lines: [`${file} is still being written`] }
    await clock.sleep(Math.max(0, STABLE_MS - rested), signal)
    const now = content()
    if (now !== known) since = clock.monotonic()
    known = now
  }
}

/**
 * contentStampOf returns a function whose result changes with the content of the file. The result stays the same if a
 * job writes the same content again, and is null if there is no file.
 */
export function contentStampOf(file: string): () => string | null {
  let known: string | null = null
  let content: string | null = null
  return () => {
    const now = stampOf(file)?.stamp ?? null
    if (now === known) return content
    known = now
    try {
      content = now === null ? null : sha256Of(readRegular(file, LARGEST_BYTES))
    } catch {
      // The file cannot be read; the next look says why.
      content = now
    }
    return content
  }
}

/** isCurrentOf returns a function that tells whether the file still has the content that was read. */
export function isCurrentOf({ file, fileSha256 }: ReadCampaignsFile) {
  const content = contentStampOf(file)
  return () => content() === fileSha256
}
