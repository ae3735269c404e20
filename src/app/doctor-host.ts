// What `doctor` asks of the host as the daemon's unit sees it: folders, the key that systemd hands over, and what
// the running daemon says of itself.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { probeFilesystem, remoteFilesystem } from '../inbox/filesystem-type.ts'
import { errorCode } from '../lib/errors.ts'
import { UNIT_KEY_FILE } from '../lib/key-advice.ts'
import { LONGEST_SECRET, readRegular, withoutNewline } from '../lib/read-regular.ts'
import { readDaemonFile } from '../ops/daemon-file.ts'
import { type Finding, ok, problem, skipped, warning } from '../ops/doctor/finding.ts'
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

type Environment = Readonly<Record<string, string | undefined>>

const CREDENTIAL = 'service-key'

/** What the running daemon says of itself, in the words of `status`. */
export function* conditionChecks({ state }: Config, env: Environment): Generator<Finding> {
  const file = readDaemonFile(state.directory, env)
  for (const { hint, message, severity } of file?.conditions ?? []) {
    const fix = hint ?? 'feedsyncd status'
    yield severity === 'critical'
      ? problem('condition', message, fix)
      : warning('condition', message, fix)
  }
}

/** Root's file that systemd hands over to the daemon; null where it does not. */
function handedOver(unit: Unit | null): string | null {
  return unit?.credentials.get(CREDENTIAL) ?? null
}

/** A key that only root may read is as it should be: the daemon gets it from systemd. null: it is another one. */
export function rootsOwnKey({ service }: Config, { unit }: Runner): Finding[] | null {
  const { keyFile } = service.auth
  const source = handedOver(unit)
  if (source === null || resolve(source) !== keyFile) return null
  try {
    readRegular(source, LONGEST_SECRET)
    return null
  } catch (error) {
    if (errorCode(error) !== 'EACCES') return null
  }
  return [
    ok('key', `${keyFile} is root's alone, and systemd hands it over to the unit`),
    skipped('service', 'only root can try this key: run doctor as root'),
  ]
}

/** systemd reads the file at the start: one that was changed since is not in use. */
export function* keyInUseCheck(
  { state }: Config,
  { unit }: Runner,
  env: Environment = process.env,
): Generator<Finding> {
  const check = 'key in use'
  const pid = readDaemonFile(state.directory, env)?.pid
  const source = handedOver(unit) ?? UNIT_KEY_FILE
  const used = pid === undefined ? null : keyInUse(pid)
  if (used === null) return
  try {
    yield readRegular(source, LONGEST_SECRET).equals(used)
      ? ok(check, `the daemon uses the key in ${source}`)
      : problem(
          check,
          `the daemon uses another key than ${source}, which was changed after its start`,
          'systemctl restart feedsyncd',
        )
  } catch (error) {
    yield skipped(check, `${source} cannot be compared with it (${errorCode(error)})`)
  }
}

/** A key that systemd does not hand over is read by the unit's user. */
export async function* keyAccessCheck(
  { service }: Config,
  { account, unit }: Runner,
): AsyncGenerator<Finding> {
  const { keyFile } = service.auth
  const source = handedOver(unit)
  const isHandedOver = source !== null && resolve(source) === keyFile
  if (account === null || isHandedOver || !existsSync(keyFile)) return
  const finding = await checkFile('key', keyFile, 'read', { account, unit }, true)
  if (finding.verdict !== 'ok') yield finding
}

/** A secret is every byte of its file but one newline: what an editor left there is sent as a part of it. */
export function keyCheck({ service }: Config): Finding {
  const { algorithm, keyFile, method } = service.auth
  const sound = ok('key', `${keyFile} holds a key that can sign`)
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
  return warning('key', `${keyFile} ${how}, which counts as a part of the key`, fix)
}

/** Whether the daemon may use its folders, as its unit runs. */
export async function* folderChecks(
  { inbox, state }: Config,
  runner: Runner,
): AsyncGenerator<Finding> {
  const { directory, afterUpload, afterReject, receipts } = inbox
  const write = receipts || afterUpload !== 'keep' || afterReject !== 'keep'
  const readable = await checkFolder({ check: 'inbox', path: directory, write }, runner)
  yield readable
  yield checkHidden(directory, runner)
  if (readable.verdict === 'ok') yield watching(inbox)
  const made = [
    ...(afterUpload === 'archive' ? [{ check: 'archive', path: inbox.archiveDirectory }] : []),
    ...(afterReject === 'quarantine'
      ? [{ check: 'quarantine', path: inbox.quarantineDirectory }]
      : []),
  ]
  for (const use of made) yield checkFolder({ ...use, write: true, made: true }, runner)
  yield checkState({ check: 'state', path: state.directory, write: true, made: true }, runner)
  yield checkRoom(state.directory)
}

async function watching({ directory, watch }: Config['inbox']): Promise<Finding> {
  if (watch === 'poll') return ok('events', 'the folder is polled, as inbox.watch says')
  const remote = await remoteFilesystem(directory, probeFilesystem).catch(() => null)
  return remote === null
    ? checkWatches(directory)
    : ok('events', `the folder is on ${remote}, whose events are lost: it is polled`)
}
