// Decides which version takes the place of which: the newest wins. Pure. No other file decides this.

import { ACCEPTED, REPLACEABLE } from '../../domain/states.ts'
import type { Id, State, Transition, Version } from '../../history/port.ts'

/** Placed is what these rules need of a version. Of two versions of a feed, the version with the higher id is newer. */
export type Placed = Pick<Version, 'id' | 'state'>

/** SENT_OR_WAITING are the states of a version that is on the service, or will be without a person. */
export const SENT_OR_WAITING: readonly State[] = [...ACCEPTED, 'uploaded']

/**
 * replaceableBy returns the states of the older versions whose place a newer version in this state takes. A person
 * might discard a held version, so it takes the place of held versions only.
 */
export function replaceableBy(newer: State): readonly State[] {
  if (newer === 'held') return ['held']
  return SENT_OR_WAITING.includes(newer) ? REPLACEABLE : []
}

/** replaced returns the transitions by which the version `by`, now in `state`, takes the place of older versions. */
export function replaced(older: readonly Placed[], by: Id, state: State): Transition[] {
  return older
    .filter((each) => (by === 'new' || each.id < by) && replaceableBy(state).includes(each.state))
    .map(({ id }) => ({ kind: 'supersede', id, by }))
}
