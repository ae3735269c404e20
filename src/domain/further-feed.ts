// What a person can do about further feeds of an account. Pure.

import { excludeLine } from '../lib/glob.ts'

/** furtherFeedHint returns the hint for the further feeds of one account that wait, whose files have these paths. */
export function furtherFeedHint(paths: readonly string[]): string {
  const [one, each] = paths.length === 1 ? ['it', 'this feed'] : ['one of them', 'each of them']
  return [
    'ask the service operator whether the service keeps all feeds of an account',
    `If it does, release ${one} with --account-keeps-all, or set guards.secondFeed: pass`,
    `If it does not, give ${each} an account of its own (partnerAccount), or set ${excludeLine(paths)} under inbox`,
  ].join('. ')
}
