// Names the service and the account that the campaigns belong to.

import type { Config } from '../config/config.ts'

/** CampaignAccount is the vendor's account at one service. */
export interface CampaignAccount {
  /** The normalized address of the service and the identity: `https://api.example.com/api 123`. */
  name: string
  /** The account, such as `123`, or partner and partner account, such as `acme/42`. Marks are made from it. */
  identity: string
}

export function accountOf({ service }: Config): CampaignAccount {
  const { origin, pathname } = new URL(service.baseUrl)
  const { identity: who } = service
  const identity = 'partner' in who ? `${who.partner}/${who.partnerAccount ?? ''}` : who.account
  return { name: `${origin}${pathname.replace(/\/+$/, '')} ${identity}`, identity }
}
