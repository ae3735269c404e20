// Names the service and the account that the campaigns belong to.

import type { Config } from '../config/config.ts'

/** accountOf returns the normalized address of the service and the identity: `https://api.example.com/api 123`. */
export function accountOf(config: Config): string {
  const { origin, pathname } = new URL(config.service.baseUrl)
  return `${origin}${pathname.replace(/\/+$/, '')} ${identityOf(config)}`
}

/** identityOf returns the account, such as `123`, or partner and partner account, such as `acme/42`. */
export function identityOf({ service: { identity: who } }: Config): string {
  return 'partner' in who ? `${who.partner}/${who.partnerAccount ?? ''}` : who.account
}
