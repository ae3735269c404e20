// Codes of the reasons that are feedsyncd's own. Beside them a version may have the code of whoever refused it:
// of the check (`not-well-formed`), a guard (`drop`), the system (`EACCES`), the service or storage (`AccessDenied`).

/** It changed while it was read. */
export const CHANGED = 'changed'
/** Its file is not in the folder any more. */
export const LEFT = 'left'
/** No file of it has been seen yet. */
export const NOT_SEEN = 'not-seen'
export const SAME_BYTES = 'same-bytes'
export const DROPPED_AGAIN = 'dropped-again'
/** The spool has no room for a copy. */
export const NO_ROOM = 'no-room'
/** It cannot be read at present; what can never be read has the code of its refusal (inbox/port.ts). */
export const UNREADABLE = 'unreadable'
/** The document ends early. */
export const INCOMPLETE = 'incomplete'
/** The daemon stopped before this was done. */
export const STOPPED = 'stopped'
/** The daemon was started anew, and may read now what it might not read before. */
export const READ_AGAIN = 'read-again'
/** An error of feedsyncd itself. */
export const FAULT = 'fault'
export const SUPERSEDED = 'superseded'
/** The date in its file's name is older than that of a version that was accepted before (lib/dated-name.ts). */
export const OLDER = 'older'
/** Stored, with an answer that is not quite the one that was asked for. */
export const UNUSUAL_ANSWER = 'unusual-answer'
/** It waits until the service takes the credentials of its account. */
export const ON_HOLD = 'account-on-hold'
/** Of attempts that asked nobody, since the rules of its path have to be corrected first (service/form-source.ts). */
export const WRONG_ACCOUNT: readonly string[] = [
  'no-partner-account',
  'account-without-partner',
  'account-unusable',
]
/** The copy in the spool is gone, or is not what was checked (upload/post.ts). */
export const COPY_LOST: readonly string[] = ['spool-gone', 'spool-changed']
/** It waits for the next probe of a service or storage that is down. */
export const ENDPOINT_DOWN = 'endpoint-down'
/** What a person decided. */
export const RELEASED = 'released'
export const DISCARDED = 'discarded'
export const RETRIED = 'retried'
export const RESTORED = 'restored'

/** With these it settles once more, and is read as soon as it is quiet. */
const PASSING: readonly string[] = [CHANGED, LEFT, STOPPED, RETRIED, READ_AGAIN]

/** Whether it settles on and on: the spool has no room for it, or it cannot be read at present. */
export function isBlocked(version: { state: string; reasonCode: string | null }): boolean {
  const { state, reasonCode } = version
  return state === 'settling' && reasonCode !== null && !PASSING.includes(reasonCode)
}
