// Which account of which service the campaigns belong to.

import type { Config } from '../config/config.ts'

/** The service's address, however it is spelled, and the identity: `https://api.example.com/api 123`. */
export function accountOf(config: Config): string {
  const { origin, pathname } = new URL(config.service.baseUrl)
  return `${origin}${pathname.replace(/\/+$/, '')} ${identityOf(config)}`
}

/** `123`, or `acme/42` of a partner. */
export function identityOf({ service: { identity: who } }: Config): string {
  return 'partner' in who ? `${who.partner}/${who.partnerAccount ?? ''}` : who.account
}
