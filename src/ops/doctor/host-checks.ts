// What `doctor` asks of the host itself: folders and their rights, room, limits of the kernel, the runtime,
// systemd. It changes nothing; whether a folder can be written is asked, not tried.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { opendir, readFile, readlink, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { SECOND } from '../../lib/clock.ts'
import { EXIT, errorCode } from '../../lib/errors.ts'
import { formatBytes } from '../../lib/units.ts'
import { fullDisk } from '../room.ts'
import { PROGRAMS } from '../systemd/notifier.ts'
import { type Account, hiddenBy, mayWrite, parseUnit, type Unit } from '../systemd/unit.ts'
import { type Answer, ok, problem, skipped, warning } from './finding.ts'
import { ENTER, READ, type Refusal, refusalOf, WRITE } from './folder-access.ts'

/** Who the daemon runs as; both null where nothing is known of a unit: then it is who asks. */
export interface Runner {
  unit: Unit | null
  account: Account | null
}

/** What of the packaged unit hides folders, for hosts where it is not installed yet. */
const PACKAGED = parseUnit('ProtectHome=yes\nPrivateTmp=yes')

const LITTLE_ROOM = 2 ** 30
/** Beyond this the number of folders does not matter any more. */
const MOST_FOLDERS = 100_000
const STATE_FILES = ['daemon.lock', 'feedsyncd.db', 'feedsyncd.db-wal', 'feedsyncd.db-shm', 'spool']
const UNITS = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system']

/** What the daemon does with a folder; `make`: it writes there, and makes it where it is missing. */
export type FolderUse = 'read' | 'write' | 'make'

const DROPIN =
  'feedsyncd service print > /etc/systemd/system/feedsyncd.service.d/folders.conf (mkdir -p its directory before), then: systemctl daemon-reload && systemctl restart feedsyncd'

/** Whether the daemon may do there what the configuration wants: by its unit, or by the account that asks. */
export async function checkFolder(path: string, use: FolderUse, runner: Runner): Promise<Answer> {
  const { account, unit } = runner
  const isMade = use === 'make'
  const write = use !== 'read'
  const found = await stat(path).catch(() => null)
  if (found !== null && !found.isDirectory())
    return problem(`${path} is not a folder`, 'name a folder in the configuration', EXIT.config)
  if (write && unit !== null && !mayWrite(unit, path)) {
    const says = `${path} is read-only for the unit feedsyncd: ReadWritePaths= does not have it`
    return problem(says, DROPIN)
  }
  const refusal = await refusalOf(path, READ | ENTER | (write ? WRITE : 0), account)
  const verb = write ? 'read and written' : 'read'
  if (refusal === null) return ok(`${path} can be ${verb}`)
  const target = found === null ? await readlink(path).catch(() => null) : null
  if (target !== null) {
    const fix = 'mount or create what it leads to, or correct the link'
    return problem(`${path} is a link to ${target}, which is not there`, fix)
  }
  const owner = isMade && account !== null ? `-o ${account.name} ` : ''
  const mode = use === 'write' ? '0770' : '0750'
  const install = `install -d -m ${mode} ${owner}-g ${groupOf(runner)} ${path}`
  if (refusal.code === 'ENOENT') {
    return isMade && (await canMake(path, account))
      ? ok(`${path} does not exist yet and can be created`)
      : problem(`${path} does not exist`, `create it, and give the unit’s user access: ${install}`)
  }
  const who = account === null ? 'this user' : account.name
  // The group that owns it is root's: no drop-in can add the unit to that.
  const isRoots = refusal.at === path && account !== null && found?.gid === 0
  const given = isMade ? giveBack(path, runner) : `give it to the unit’s group: ${install}`
  const fix = isRoots ? given : accessFix(refusal, account)
  return problem(`${path} cannot be ${verb} by ${who} (${refusal.code})`, fix)
}

/** What lets an account use a folder of somebody else. */
function accessFix({ code, at }: Refusal, account: Account | null): string {
  if (code === 'EROFS') return 'mount it writable, after a look at dmesg'
  return `let ${account?.name ?? 'the unit’s user'} use ${at} through the group that owns it, which needs its rights: ${DROPIN}`
}

/** The files in the state directory: a command of root, or a restored backup, may have left them to another user. */
export async function checkState(state: string, runner: Runner): Promise<Answer> {
  const found = await checkFolder(state, 'make', runner)
  if (found.verdict !== 'ok') return found
  for (const name of STATE_FILES) {
    const path = join(state, name)
    const needed = READ | WRITE | (name === 'spool' ? ENTER : 0)
    const refusal = await refusalOf(path, needed, runner.account)
    if (refusal === null || refusal.code === 'ENOENT') continue
    const isForeign = refusal.code === 'EACCES'
    const fix = isForeign ? giveBack(state, runner) : accessFix(refusal, null)
    return problem(`${path} cannot be read and written (${refusal.code})`, fix)
  }
  return found
}

const giveBack = (path: string, runner: Runner) =>
  `chown -R ${runner.account?.name ?? process.getuid?.()}:${groupOf(runner)} ${path}`

/** The one of the unit; else of its user, or of who asks. */
function groupOf({ account, unit }: Runner): string | number {
  return unit?.groups[0] ?? account?.gids[0] ?? process.getgid?.() ?? 0
}

async function canMake(path: string, account: Account | null): Promise<boolean> {
  const parent = dirname(path)
  const refusal = await refusalOf(parent, READ | ENTER | WRITE, account)
  if (refusal === null) return true
  return refusal.code === 'ENOENT' && parent !== path && (await canMake(parent, account))
}

/** The unit hides some places: there a folder that is readable here is not there for the service. */
export async function checkHidden(path: string, { unit }: Runner): Promise<Answer> {
  const setting = hiddenBy(unit ?? PACKAGED, path)
  const name = unit === null ? 'the packaged unit' : 'the unit feedsyncd'
  if (setting === null) return ok(`${path} is visible to ${name}`)
  const fix = 'feedsyncd service print writes the drop-in that shows it; or move the folder'
  return warning(`${path} is hidden from ${name} (${setting})`, fix)
}

export async function checkRoom(path: string): Promise<Answer> {
  try {
    const { bavail, bsize } = await statfs(path)
    const free = bavail * bsize
    const says = `${formatBytes(free)} free on the disk of ${path}`
    const fix = 'free space: the spool holds upload.keepVersions copies of each feed'
    // As the daemon judges it.
    const full = fullDisk(path)
    if (full !== null) return problem(full.message, fix, EXIT.temporary)
    return free < LITTLE_ROOM ? warning(says, fix) : ok(says)
  } catch (error) {
    return skipped(`the room on the disk of ${path} is not known (${errorCode(error)})`)
  }
}

/** One watch a folder, of a number that all programs of one user share. */
export async function checkWatches(inbox: string): Promise<Answer> {
  try {
    const limit = Number(await readFile('/proc/sys/fs/inotify/max_user_watches', 'utf8'))
    const folders = await countFolders(inbox)
    const says = `${folders} folder${folders === 1 ? '' : 's'} to watch, and the limit of this user is ${limit}`
    const fix = `sysctl fs.inotify.max_user_watches=${Math.max(limit, folders) * 4}, and the same in /etc/sysctl.d; else the folder is polled`
    return folders < limit / 2 ? ok(says) : warning(says, fix)
  } catch (error) {
    return skipped(`the limit of file events is not known (${errorCode(error)})`)
  }
}

async function countFolders(root: string): Promise<number> {
  let count = 1
  for await (const entry of await opendir(root, { recursive: true })) {
    if (entry.isDirectory()) count += 1
    if (count >= MOST_FOLDERS) break
  }
  return count
}

/** A key that others may read is one that others have; systemd's own copy is as it should be. */
export async function checkKeyMode(path: string, credentials: string | undefined): Promise<Answer> {
  try {
    const { mode } = await stat(path)
    const says = `${path} has the mode 0${(mode & 0o777).toString(8)}`
    const handedOver = credentials !== undefined && path.startsWith(join(credentials, '/'))
    return (mode & 0o077) === 0 || handedOver
      ? ok(says)
      : warning(`${says}: others may read it`, `chmod 0600 ${path}`)
  } catch (error) {
    return skipped(`the mode of ${path} is not known (${errorCode(error)})`)
  }
}

/** A file that the daemon is to `run` or `read`. `isSecret`: its group must not read it. */
export async function checkFile(
  path: string,
  use: 'run' | 'read',
  { account, unit }: Runner,
  isSecret = false,
): Promise<Answer> {
  const setting = unit && hiddenBy(unit, path)
  if (setting) {
    const says = `${path} is hidden from the unit feedsyncd (${setting})`
    return problem(
      says,
      'move it to a folder that the unit sees, such as /etc/feedsyncd',
      EXIT.config,
    )
  }
  const refusal = await refusalOf(path, use === 'run' ? ENTER : READ, account)
  if (refusal === null) return ok(`${path} can be ${use}`)
  const { at, code } = refusal
  const other = use === 'run' ? ', or name another program in alerts' : ''
  const isGiven = use === 'read' && at === path && code === 'EACCES' && account !== null
  const given = isSecret
    ? `chown ${account?.name} ${path}`
    : `chgrp ${groupOf({ account, unit })} ${path} && chmod 0640 ${path}`
  const asked = `let the unit’s user ${at === path ? use : 'enter'} it${other}`
  const says = `${at} cannot be ${at === path ? use : 'entered'} (${code})`
  return problem(says, isGiven ? given : asked, EXIT.config)
}

/** For whom the answers are true: the unit's user where there is one, else who asks. */
export function checkAccount(uid: number | undefined, { account, unit }: Runner): Answer {
  if (unit !== null && account === null) {
    const fix = `create it: systemd-sysusers; or correct User= of the unit`
    return problem(`the unit runs as ${unit.user}, which this host does not know`, fix)
  }
  if (account !== null) return ok(`judged as the unit feedsyncd runs: as ${account.name}`)
  if (uid !== 0) return ok(`these answers are for the user with uid ${uid}`)
  const says = 'this is root, which may read and write everything'
  return warning(says, 'run this check as the user that runs feedsyncd')
}

export async function checkSystemd(): Promise<Answer> {
  const installed = UNITS.map((folder) => join(folder, 'feedsyncd.service')).find((path) =>
    existsSync(path),
  )
  if (installed === undefined) return skipped('feedsyncd.service is not installed here')
  const options = { timeout: 5 * SECOND }
  const asked = promisify(execFile)('systemctl', ['--version'], options).catch(() => null)
  const version = Number(/^systemd (\d+)/.exec((await asked)?.stdout ?? '')?.[1])
  if (!version) return skipped('systemctl does not answer')
  const says = `systemd ${version}, unit ${installed}`
  if (version < 247) return problem(says, 'the unit needs systemd 247 or later (LoadCredential=)')
  if (version >= 253 || PROGRAMS.some((path) => existsSync(path))) return ok(says)
  const fix = 'install it, or set Type=exec in a drop-in'
  return problem(`${says}; systemd-notify is missing`, fix)
}
