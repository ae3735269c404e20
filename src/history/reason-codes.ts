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
/** The document ends early. */
export const INCOMPLETE = 'incomplete'
/** The daemon stopped before this was done. */
export const STOPPED = 'stopped'
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
/** The copy in the spool is gone. */
export const COPY_GONE = 'spool-gone'
/** It is gone, or is not what was checked (upload/post.ts). */
export const COPY_LOST: readonly string[] = [COPY_GONE, 'spool-changed']
/** It waits for the next probe of a service or storage that is down. */
export const ENDPOINT_DOWN = 'endpoint-down'
/** It waits until a pause of a person's ends. */
export const PAUSED = 'paused'
/** What a person decided. */
export const RELEASED = 'released'
export const DISCARDED = 'discarded'
export const RETRIED = 'retried'
export const RESTORED = 'restored'

/** Whether it settles on and on, since the spool has no room for it. */
export function isBlocked({ state, reasonCode }: { state: string; reasonCode: string | null }) {
  return state === 'settling' && reasonCode === NO_ROOM
}
