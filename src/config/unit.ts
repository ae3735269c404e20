// Which unit of systemd has a configuration: the packaged feedsyncd.service has the one at the default place, and
// feedsyncd@NAME.service the one in the folder of that name.

import { resolve } from 'node:path'

const OF_INSTANCE = /^\/etc\/feedsyncd\/([^/]+)\/feedsyncd\.yaml$/

/** instanceOf says the NAME of feedsyncd@NAME.service; null: the file is that of no instance. */
export function instanceOf(file: string): string | null {
  return OF_INSTANCE.exec(resolve(file))?.[1] ?? null
}

/** unitOf says the unit that has this configuration, as systemctl and journalctl take it. */
export function unitOf(file: string): string {
  const instance = instanceOf(file)
  return instance === null ? 'feedsyncd' : `feedsyncd@${instance}`
}
