// Owns which service and account the uploads go to, and which versions went to another one: they are not on the present
// service.

import type { Accounts } from './accounts.ts'
import type { Connection } from './connection.ts'
import type { VersionReads } from './version-reads.ts'
import type { VersionWrites } from './version-writes.ts'

/** Destination is a service, and who we are there: an account, or an account of a partner. */
export interface Destination {
  baseUrl: string
  account: string | null
  partner: string | null
  partnerAccount: string | null
}

export type OtherService = ReturnType<typeof otherService>

export function otherService(db: Connection, { lastId }: Pick<VersionWrites, 'lastId'>) {
  return {
    /** setDestination records where the uploads go from now on. Returns whether they went elsewhere before. */
    setDestination: (destination: Destination): boolean =>
      db.joinTransaction(() => {
        const isFirst = db.value('SELECT base_url FROM settings') === null
        const { changes } = db.run(
          `UPDATE settings SET base_url = @baseUrl, account = @account, partner = @partner,
               partner_account = @partnerAccount
             WHERE (base_url, account, partner, partner_account) IS NOT (@baseUrl, @account, @partner, @partnerAccount)`,
          { ...destination },
        )
        if (isFirst || changes === 0) return false
        db.run('UPDATE settings SET other_service_up_to = ?', lastId())
        return true
      }),

    /** otherServiceUpTo returns the last version id that belongs to another service, or 0. */
    otherServiceUpTo: () => db.value<number>('SELECT other_service_up_to FROM settings') ?? 0,
  }
}

/** noteService runs at the start. Returns whether the service or account has changed and versions were uploaded before. */
export function noteService(
  history: Pick<VersionReads, 'list'> & Pick<Accounts, 'forgetAccounts'> & OtherService,
  destination: Destination,
): boolean {
  if (!history.setDestination(destination)) return false
  history.forgetAccounts()
  return history.list({ states: ['uploaded'], all: true, limit: 1 }).length > 0
}
