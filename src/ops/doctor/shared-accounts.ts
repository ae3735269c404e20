// Names the feeds that share an account. A form does not say which feed it is for, so a service might keep only the
// last file of an account.

import { limited } from '../../lib/limited.ts'
import { countOf } from '../../lib/units.ts'
import { type CheckAnswer, ok, warning } from './finding.ts'

/**
 * SharedAccount is an account and its feeds. `keepsAll` is a clause about who said that the service keeps all feeds of
 * the account; null if nobody said it.
 */
interface SharedAccount {
  account: string
  feeds: readonly string[]
  keepsAll: string | null
}

/** How many accounts, and how many feeds of each account, the sentence names. */
const MOST = 3

/** checkAccounts judges the accounts with more than one feed. */
export function checkAccounts(accounts: readonly SharedAccount[]): CheckAnswer {
  const shared = accounts.filter(({ feeds }) => feeds.length > 1)
  if (shared.length === 0) return ok('no account has more than one feed')
  const open = shared.filter(({ keepsAll }) => keepsAll === null)
  const texts = (open.length > 0 ? open : shared).map(({ account, feeds, keepsAll }) => {
    const names = limited(feeds.toSorted(), MOST).join(', ')
    const word = keepsAll === null ? '' : `; ${keepsAll}`
    return `${countOf(feeds.length)} feeds are for account ${account} (${names})${word}`
  })
  const says = limited(texts, MOST).join('; ')
  if (open.length === 0) return ok(says)
  const fix =
    'ask the service operator whether the service keeps all feeds of an account; if it does, set guards.secondFeed: pass'
  return warning(`${says}: the service might keep only the last file of an account`, fix)
}
