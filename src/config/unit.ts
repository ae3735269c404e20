// Finds the systemd unit of a configuration file: feedsyncd.service uses the file at the default path, and
// feedsyncd@NAME.service the file in the folder NAME.

import { resolve } from 'node:path'

const OF_INSTANCE = /^\/etc\/feedsyncd\/([^/]+)\/feedsyncd\.yaml$/

/** instanceOf returns the NAME of feedsyncd@NAME.service; null if the file belongs to no instance. */
export function instanceOf(file: string): string | null {
  return OF_INSTANCE.exec(resolve(file))?.[1] ?? null
}

/** unitOf returns the unit with this configuration file, as systemctl and journalctl accept it. */
export function unitOf(file: string): string {
  const instance = instanceOf(file)
  return instance === null ? 'feedsyncd' : `feedsyncd@${instance}`
}
