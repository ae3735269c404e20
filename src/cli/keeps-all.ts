// Asks a person who releases a further feed of an account whether the service keeps all feeds of the account.

import { ownAccountOf } from '../app/rules.ts'
import { SECOND_FEED } from '../domain/reason-codes.ts'
import type { History, Version } from '../history/port.ts'
import type { Call } from '../terminal/define.ts'

/** heldAsFurther returns the versions with these ids that the guard `second-feed` holds. */
export function heldAsFurther(history: History, ids: readonly number[]): Version[] {
  return ids
    .flatMap((id) => history.version(id) ?? [])
    .filter(({ guard }) => guard === 'second-feed')
}

/**
 * accountsToKeep asks whether the service keeps all feeds of the accounts of these versions, and returns the accounts
 * after a yes. It does not ask about a version that is held only for its name.
 */
export async function accountsToKeep(
  { config, context }: Call<unknown>,
  furtherFeeds: readonly Version[],
): Promise<Version['account'][]> {
  const asked = furtherFeeds.filter(({ reasonCode }) => reasonCode === SECOND_FEED)
  const accounts = [...new Set(asked.map(({ account }) => account))]
  if (accounts.length === 0) return []
  const names = accounts.map((account) => account ?? ownAccountOf(config)).join(', ')
  const says = accounts.length === 1 ? `account ${names} keeps` : `accounts ${names} keep`
  const question = `${says} all feeds: send the others that wait, and hold no further one? [y/N] `
  return (await context.ask?.(question)) ? accounts : []
}
