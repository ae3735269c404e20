// Decides whether a well-formed feed is plausible enough to be sent without a person (design promise
// 3: never a silent wipe). Pure: compares counts and shape with the version that was uploaded last.

import type { FeedContent } from './port.ts'

/** What the guards look at. `root` is null where nothing is known of a version. */
export interface GuardedVersion {
  root: string | null
  records: string | null
  postings: number
}

export interface GuardLimits {
  /** A drop of this many percent or more is held. */
  maxDropPercent: number
  /** Fewer postings than this are held. */
  minPostings: number
}

export type GuardName = 'empty' | 'min-postings' | 'drop' | 'shape'

export type GuardResult =
  | { kind: 'pass' }
  /** `reason` and `hint` are plain sentences. */
  | { kind: 'held'; guard: GuardName; reason: string; hint: string }

const RELEASE =
  'If this is right, release it; otherwise correct the export and drop the feed again.'

/** `older`: the version of the same feed that was uploaded last; null: there is none. */
export function guard(
  newer: Pick<FeedContent, 'root' | 'records' | 'postings'>,
  older: GuardedVersion | null,
  limits: GuardLimits,
): GuardResult {
  const { postings } = newer
  if (postings === 0) {
    const reason = `the feed contains no postings${
      newer.records === null ? ` (none were found below <${newer.root}>)` : ''
    }`
    return held(
      'empty',
      reason,
      `${RELEASE} If it has postings, configure their path in "records".`,
    )
  }
  if (postings < limits.minPostings) {
    const reason = `the feed contains ${counted(postings)}, fewer than the ${limits.minPostings} of guards.minPostings`
    return held('min-postings', reason, RELEASE)
  }
  const shape = older === null ? null : changedShape(newer, older)
  if (shape !== null) return held('shape', shape, RELEASE)
  if (older !== null && droppedTooFar(postings, older.postings, limits.maxDropPercent)) {
    // Rounded down, so that a feed with postings left never reads "100 %".
    const percent = Math.floor((1 - postings / older.postings) * 100)
    const reason = `the feed dropped from ${counted(older.postings)} to ${postings.toLocaleString('en-US')} (${percent} %)`
    return held('drop', `${reason}; guards.maxDropPercent is ${limits.maxDropPercent}`, RELEASE)
  }
  return { kind: 'pass' }
}

function droppedTooFar(postings: number, before: number, maxDropPercent: number): boolean {
  return postings < before && (before - postings) * 100 >= before * maxDropPercent
}

function changedShape(
  newer: Pick<FeedContent, 'root' | 'records'>,
  older: GuardedVersion,
): string | null {
  if (older.root === null) return null
  if (newer.root !== older.root) {
    return `the root element changed from <${older.root}> to <${newer.root}>`
  }
  // A version without postings has no record path that could have changed.
  if (older.records === null || newer.records === null || newer.records === older.records)
    return null
  return `the postings moved from ${older.records} to ${newer.records}`
}

function held(name: GuardName, reason: string, hint: string): GuardResult {
  return { kind: 'held', guard: name, reason, hint }
}

function counted(postings: number): string {
  return `${postings.toLocaleString('en-US')} posting${postings === 1 ? '' : 's'}`
}
