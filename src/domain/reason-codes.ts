// The codes of feedsyncd's own reasons. Other codes come from the check (`not-well-formed`), a guard (`drop`), the
// system (`EACCES`), the service or storage (`AccessDenied`).

/** The file changed while it was read. */
export const CHANGED = 'changed'
/** The file left the folder. */
export const LEFT = 'left'
/** No file of the expected feed has come yet. */
export const NOT_SEEN = 'not-seen'
export const SAME_BYTES = 'same-bytes'
export const DROPPED_AGAIN = 'dropped-again'
/** The spool has no room for a copy. */
export const NO_ROOM = 'no-room'
/** The file never stays the same for the quiet period. */
export const NEVER_QUIET = 'never-quiet'
/** The document ends early. */
export const INCOMPLETE = 'incomplete'
/** The daemon stopped before the step was finished. */
export const STOPPED = 'stopped'
/** An error of feedsyncd itself. */
export const FAULT = 'fault'
export const SUPERSEDED = 'superseded'
/**
 * The date in the file's name is older than the date of a version that was accepted before
 * (pipeline/decide/same-bytes.ts).
 */
export const OLDER = 'older'
/** Storage confirmed the upload with another success status than the form asked for. */
export const UNUSUAL_ANSWER = 'unusual-answer'
/** The version waits until the service accepts the credentials of its account. */
export const ON_HOLD = 'account-on-hold'
/** The codes of attempts that sent nothing, because a person must first correct the rule of the path. */
export const WRONG_ACCOUNT: readonly string[] = [
  'no-partner-account',
  'account-without-partner',
  'account-unusable',
]
/** The copy in the spool is gone. */
export const COPY_GONE = 'spool-gone'
/** The codes of attempts that found the copy gone, or changed since it was checked (upload/post.ts). */
export const COPY_LOST: readonly string[] = [COPY_GONE, 'spool-changed']
/** The version waits for the next probe of a service or storage that is down. */
export const ENDPOINT_DOWN = 'endpoint-down'
/** The version waits until a person's pause ends. */
export const PAUSED = 'paused'
/** The version's account has another feed, and the service might keep only the last file of an account. */
export const SECOND_FEED = 'second-feed'
/** The name of the version's feed looks like the name of another feed of its account. */
export const LOOK_ALIKE = 'look-alike'
/** The rules give the file of the version to another feed. */
export const RENAMED = 'renamed'
/** The version is no longer held, because what its guard compared it with has changed. */
export const JUDGED_ANEW = 'judged-anew'
/** Decisions of a person. */
export const RELEASED = 'released'
export const DISCARDED = 'discarded'
export const RETRIED = 'retried'
export const RESTORED = 'restored'

/** blockOf returns why a version stays `settling` although its file was seen long ago; null means nothing blocks it. */
export function blockOf({ state, reasonCode }: { state: string; reasonCode: string | null }) {
  return state === 'settling' && (reasonCode === NO_ROOM || reasonCode === NEVER_QUIET)
    ? reasonCode
    : null
}
