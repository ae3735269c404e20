// What `doctor` asks of the host as the daemon's unit sees it: its folders, and the key that systemd hands over.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { probeFilesystem, remoteFilesystem } from '../inbox/filesystem-type.ts'
import { errorCode } from '../lib/errors.ts'
import { LONGEST_SECRET, readRegular, withoutNewline } from '../lib/files.ts'
import {
  type Answer,
  check,
  type Finding,
  ok,
  problem,
  skipped,
  warning,
} from '../ops/doctor/finding.ts'
import { READ, refusalOf } from '../ops/doctor/folder-access.ts'
import {
  checkFile,
  checkFolder,
  checkHidden,
  checkRoom,
  checkState,
  checkWatches,
  type Runner,
} from '../ops/doctor/host-checks.ts'
import { keyInUse, type Unit } from '../ops/systemd/unit.ts'
import { UNIT_KEY_FILE } from '../service/key-file.ts'

/** Whether root's file is handed over to the daemon by systemd. */
function isHandedOver({ service }: Config, unit: Unit | null): boolean {
  return unit?.keySource != null && resolve(unit.keySource) === service.auth.keyFile
}

/** A key that only root may read is as it should be: the daemon gets it from systemd. */
export async function isRootsOwnKey(config: Config, { unit }: Runner): Promise<boolean> {
  if (!isHandedOver(config, unit)) return false
  return (await refusalOf(config.service.auth.keyFile, READ, null))?.code === 'EACCES'
}

/** systemd reads the file at the start: one that was changed since is not in use. */
export function keyInUseCheck(pid: number | undefined, { unit }: Runner): Answer | null {
  const source = unit?.keySource ?? UNIT_KEY_FILE
  const used = pid === undefined ? null : keyInUse(pid)
  if (used === null) return null
  try {
    const says = `the daemon uses another key than ${source}, which was changed after its start`
    return readRegular(source, LONGEST_SECRET).equals(used)
      ? ok(`the daemon uses the key in ${source}`)
      : problem(says, 'systemctl restart feedsyncd')
  } catch (error) {
    return skipped(`${source} cannot be compared with it (${errorCode(error)})`)
  }
}

/** A key that systemd does not hand over is read by the unit's user. null: it can be. */
export async function keyAccessCheck(config: Config, runner: Runner): Promise<Answer | null> {
  const { keyFile } = config.service.auth
  const { account, unit } = runner
  if (account === null || isHandedOver(config, unit) || !existsSync(keyFile)) return null
  const found = await checkFile(keyFile, 'read', runner, true)
  return found.verdict === 'ok' ? null : found
}

/** A secret is every byte of its file but one newline: what an editor left there is sent as a part of it. */
export function keyCheck({ service }: Config): Answer {
  const { algorithm, keyFile, method } = service.auth
  const sound = ok(`${keyFile} holds a key that can sign`)
  if (method === 'signature' && !algorithm.startsWith('hmac')) return sound
  const text = withoutNewline(readRegular(keyFile, LONGEST_SECRET)).toString('latin1')
  const how = text.startsWith('\xef\xbb\xbf')
    ? 'begins with a byte order mark'
    : /^\s/.test(text)
      ? 'begins with white space'
      : /\s$/.test(text)
        ? 'ends with white space'
        : null
  if (how === null) return sound
  const fix = 'unless the service operator issued it so, write the file again with the key alone'
  return warning(`${keyFile} ${how}, which counts as a part of the key`, fix)
}

/** Whether the daemon may use its folders, as its unit runs. */
export async function* folderChecks(
  { inbox, state }: Config,
  runner: Runner,
): AsyncGenerator<Finding> {
  const { directory, afterUpload, afterReject, receipts } = inbox
  const isWritten = receipts || afterUpload !== 'keep' || afterReject !== 'keep'
  const readable = await checkFolder(directory, isWritten ? 'write' : 'read', runner)
  yield* check('inbox', () => readable)
  yield* check('sandbox', () => checkHidden(directory, runner))
  if (readable.verdict === 'ok') {
    const polled = await whyPolled(inbox)
    yield* polled === null
      ? check('watches', () => checkWatches(directory))
      : check('events', () => ok(polled))
  }
  if (afterUpload === 'archive')
    yield* check('archive', () => checkFolder(inbox.archiveDirectory, 'make', runner))
  if (afterReject === 'quarantine')
    yield* check('quarantine', () => checkFolder(inbox.quarantineDirectory, 'make', runner))
  yield* check('state', () => checkState(state.directory, runner))
  yield* check('room', () => checkRoom(state.directory))
}

async function whyPolled({ directory }: Config['inbox']): Promise<string | null> {
  const remote = await remoteFilesystem(directory, probeFilesystem).catch(() => null)
  return remote && `the folder is on ${remote}, whose events are lost: it is polled`
}
