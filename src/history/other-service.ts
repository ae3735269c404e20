// Owns the record of a change of the service or account: versions uploaded before the change are not on the present
// service.

import { OTHER_SERVICE_UP_TO } from './notes.ts'
import type { Accounts, Notes, Versions } from './port.ts'

const SERVICE = 'service'

/**
 * noteService runs at the start. `service` is the address and our identity. Returns whether it has changed and versions
 * were uploaded before.
 */
export function noteService(
  history: Pick<Versions, 'lastId' | 'list'> & Pick<Accounts, 'forgetAccounts'> & Notes,
  service: string,
): boolean {
  const before = history.note(SERVICE)
  if (before === service) return false
  history.setNote(SERVICE, service)
  if (before === null) return false
  history.setNote(OTHER_SERVICE_UP_TO, String(history.lastId()))
  history.forgetAccounts()
  return history.list({ states: ['uploaded'], all: true, limit: 1 }).length > 0
}

/** otherServiceUpTo returns the last version id that belongs to another service, or 0. */
export function otherServiceUpTo(history: Pick<Notes, 'note'>): number {
  return Number(history.note(OTHER_SERVICE_UP_TO) ?? 0)
}
