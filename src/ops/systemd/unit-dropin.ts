// The systemd drop-in that the configured folders need beside the packaged unit, which hides /home and
// /tmp, writes nowhere but in its state, and belongs to no group. Pure: text in, text out.

import { dirname } from 'node:path'
import { isWithin } from '../../lib/files.ts'
import { HOMES, TEMPORARY } from './unit.ts'

export interface DropinFacts {
  inbox: string
  /** The inbox itself is written to: files are moved or deleted, or receipts are left. */
  writesInbox: boolean
  /** Folders that files are moved to, in use only. */
  targets: readonly string[]
  state: string
  /** Path of the endpoint's socket; null without one. */
  socket: string | null
  /** Name or number of the group that owns the inbox; null where it is not known, or root's. */
  group: string | null
}

const STATE = '/var/lib/feedsyncd'
const RUNTIME = '/run/feedsyncd'

export function unitDropin(facts: DropinFacts): string {
  const { inbox, writesInbox, targets, state, socket, group } = facts
  const foreignState = isWithin(state, STATE) ? [] : [state]
  const foreignSocket = socket === null || isWithin(socket, RUNTIME) ? [] : [dirname(socket)]
  const written = [...(writesInbox ? [inbox] : []), ...targets, ...foreignState, ...foreignSocket]
  const used = [...new Set([inbox, ...written])]
  const hidden = used.filter((path) => HOMES.some((home) => isWithin(path, home)))
  const open = used.filter((path) => written.includes(path) && !hidden.includes(path))
  const service: string[] = []
  if (group !== null)
    service.push('# The group that owns the folder of feeds.', `SupplementaryGroups=${group}`)
  if (hidden.length > 0)
    service.push('# All of the homes stay hidden but these.', 'ProtectHome=tmpfs')
  for (const path of hidden)
    service.push(`${written.includes(path) ? 'BindPaths' : 'BindReadOnlyPaths'}=${bound(path)}`)
  if (used.some((path) => TEMPORARY.some((folder) => isWithin(path, folder))))
    service.push(
      '# The folder lies among temporary files, which others can write to: better move it.',
      'PrivateTmp=no',
    )
  if (open.length > 0)
    service.push(
      '# What is written to. A folder that is missing does not stop the start.',
      `ReadWritePaths=${open.map((path) => quoted(`-${path}`)).join(' ')}`,
    )
  return [
    '# /etc/systemd/system/feedsyncd.service.d/folders.conf, made by: feedsyncd service print',
    '# Then: systemctl daemon-reload && systemctl restart feedsyncd',
    '[Unit]',
    '# Wait for folders that are mounts of their own.',
    `RequiresMountsFor=${used.map(quoted).join(' ')}`,
    ...(service.length === 0 ? [] : ['', '[Service]', ...service]),
  ].join('\n')
}

/** systemd.syntax(7): quotes around what holds spaces, backslashes doubled; systemd.unit(5): %% for a percent sign. */
function quoted(path: string): string {
  const escaped = path.replaceAll('%', '%%')
  return /[\s"'\\;#]/.test(path) ? `"${escaped.replace(/[\\"]/g, '\\$&')}"` : escaped
}

/** A colon would end the source of the mount. */
function bound(path: string): string {
  return path.includes(':') ? quoted(path.replaceAll(':', '\\:')) : quoted(path)
}
