// How the daemon's unit runs, read from systemd itself: `doctor` judges by that and not by who asks. Pure but for
// `readUnit`, `accountOf` and `keyInUse`, which look at the host.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SECOND } from '../../lib/clock.ts'
import { isWithin } from '../../lib/files.ts'

export interface Unit {
  /** Name or number; null: root. */
  user: string | null
  /** Beside the user's own: `Group=` and `SupplementaryGroups=`. */
  groups: readonly string[]
  /** `LoadCredential=`: the file whose key it is handed; null: none. */
  keySource: string | null
  /** Where it may write; null: wherever its user may. */
  writable: readonly string[] | null
  /** Whether homes are hidden from it, and whether it has temporary folders of its own. */
  hidesHomes: boolean
  privateTmp: boolean
  /** Folders that are shown to it all the same. */
  shown: readonly string[]
}

/** Who reads and writes, as far as modes tell. */
export interface Account {
  name: string
  uid: number
  gids: readonly number[]
}

/** Id of the credential. */
const KEY = 'service-key'
export const HOMES = ['/home', '/root', '/run/user']
export const TEMPORARY = ['/tmp', '/var/tmp']

/** null where there is no such unit, or no systemd. */
export async function readUnit(name = 'feedsyncd'): Promise<Unit | null> {
  try {
    const options = { timeout: 5 * SECOND }
    const { stdout } = await promisify(execFile)('systemctl', ['cat', name], options)
    return parseUnit(stdout)
  } catch {
    return null
  }
}

/** The text of the unit and its drop-ins, in their order: lists add up, and an empty value begins anew. */
export function parseUnit(text: string): Unit {
  const settings = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [, key = '', value = ''] = /^\s*([A-Za-z]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key === '') continue
    settings.set(key, value === '' ? [] : [...(settings.get(key) ?? []), value])
  }
  const all = (key: string) => settings.get(key) ?? []
  const last = (key: string) => all(key).at(-1) ?? null
  const words = (key: string) => all(key).flatMap(split)
  const folders = (key: string, root: string) => words(key).map((name) => join(root, name))
  const bound = words('BindPaths').map(boundAt)
  return {
    user: last('User'),
    groups: [...all('Group').slice(-1), ...words('SupplementaryGroups')],
    keySource:
      all('LoadCredential')
        .map((each) => each.split(':'))
        .findLast(([id]) => id === KEY)?.[1] ?? null,
    writable:
      last('ProtectSystem') === 'strict'
        ? [
            ...words('ReadWritePaths').map((path) => path.replace(/^[-+]+/, '')),
            ...bound,
            ...folders('StateDirectory', '/var/lib'),
            ...folders('RuntimeDirectory', '/run'),
          ]
        : null,
    hidesHomes: !['no', 'false', '0', 'read-only', null].includes(last('ProtectHome')),
    privateTmp: ['yes', 'true', '1'].includes(last('PrivateTmp') ?? ''),
    shown: [...bound, ...words('BindReadOnlyPaths').map(boundAt)],
  }
}

export function mayWrite({ writable }: Unit, path: string): boolean {
  return writable === null || writable.some((folder) => isWithin(path, folder))
}

/** The setting that hides a path from the unit; null where it is shown. */
export function hiddenBy(unit: Unit, path: string): 'ProtectHome=' | 'PrivateTmp=' | null {
  if (unit.shown.some((folder) => isWithin(path, folder))) return null
  if (unit.hidesHomes && HOMES.some((home) => isWithin(path, home))) return 'ProtectHome='
  return unit.privateTmp && TEMPORARY.some((folder) => isWithin(path, folder))
    ? 'PrivateTmp='
    : null
}

/** Of the files of this host alone; null where they do not know the user. */
export function accountOf({ groups, user }: Unit): Account | null {
  const name = user ?? 'root'
  const entry = rowsOf('/etc/passwd').find(([login, , uid]) => login === name || uid === name)
  if (entry === undefined) return null
  const [login = name, , uid, gid] = entry
  const others = rowsOf('/etc/group').filter(
    ([group = '', , id = '', members = '']) =>
      groups.includes(group) || groups.includes(id) || members.split(',').includes(login),
  )
  return {
    name: login,
    uid: Number(uid),
    gids: [Number(gid), ...others.map(([, , id]) => Number(id))],
  }
}

/** The key that a process was given by systemd; null where it has none, or where we may not look. */
export function keyInUse(pid: number): Buffer | null {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8')
    const [, folder] = /(?:^|\0)CREDENTIALS_DIRECTORY=([^\0]*)/.exec(variables) ?? []
    return folder === undefined ? null : readFileSync(join(folder, KEY))
  } catch {
    return null
  }
}

/** Words, those with spaces in quotes (systemd.syntax(7)). */
function split(value: string): string[] {
  return [...value.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(
    ([, quoted, plain]) => plain ?? quoted?.replace(/\\(.)/g, '$1') ?? '',
  )
}

/** `source:destination:options`, of which the service sees the destination. */
function boundAt(value: string): string {
  const [source = '', destination = source] = value.replace(/^-/, '').split(':')
  return destination
}

/** Of a table such as /etc/group; none where it cannot be read. */
export function rowsOf(file: string): string[][] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
  } catch {
    return []
  }
}
