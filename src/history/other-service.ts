// Owns which service and account the uploads go to, and which versions went to another service or account: these are
// not on the current service.

import type { Accounts } from './accounts.ts'
import type { Connection } from './connection.ts'
import type { VersionReads } from './version-reads.ts'
import type { VersionWrites } from './version-writes.ts'

/** Destination is a service, and who we are there: an account, or an account of a partner. */
interface Destination {
  baseUrl: string
  account: string | null
  partner: string | null
  partnerAccount: string | null
}

export function otherService(
  db: Connection,
  { forgetAccounts, lastId, list }: Accounts & VersionReads & VersionWrites,
) {
  return {
    /**
     * recordService runs at the start, and records where the uploads go from now on. If the uploads went elsewhere
     * before, it also forgets what people said about accounts. Returns whether versions were uploaded elsewhere.
     */
    recordService: (destination: Destination): boolean =>
      db.joinTransaction(() => {
        const isFirst = db.value('SELECT base_url FROM settings') === null
        const { changes } = db.run(
          `UPDATE settings SET base_url = @baseUrl, account = @account, partner = @partner,
               partner_account = @partnerAccount
             WHERE (base_url, account, partner, partner_account) IS NOT (@baseUrl, @account, @partner, @partnerAccount)`,
          destination,
        )
        if (isFirst || changes === 0) return false
        db.run('UPDATE settings SET other_service_up_to = ?', lastId())
        forgetAccounts()
        return list({ states: ['uploaded'], all: true, limit: 1 }).length > 0
      }),

    /** otherServiceUpTo returns the last version id that belongs to another service, or 0. */
    otherServiceUpTo: () => db.value<number>('SELECT other_service_up_to FROM settings') ?? 0,
  }
}
