// Owns how long uploads went to another service, or as another account, than they do now: what was uploaded then is
// not there.

import { OTHER_SERVICE_UP_TO } from './notes.ts'
import type { Notes, Versions } from './port.ts'

const SERVICE = 'service'

/** At the start. `service`: the address, and who we are to it. Answers whether something was uploaded to another one. */
export function noteService(
  history: Pick<Versions, 'lastId' | 'list'> & Notes,
  service: string,
): boolean {
  const before = history.note(SERVICE)
  if (before === service) return false
  history.setNote(SERVICE, service)
  if (before === null) return false
  history.setNote(OTHER_SERVICE_UP_TO, String(history.lastId()))
  return history.list({ states: ['uploaded'], all: true, limit: 1 }).length > 0
}

/** What was uploaded up to this id went to another service. */
export function otherServiceUpTo(history: Pick<Notes, 'note'>): number {
  return Number(history.note(OTHER_SERVICE_UP_TO) ?? 0)
}
