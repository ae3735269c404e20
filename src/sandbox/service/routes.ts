// The routes of the service (specification section 4), and two additional ones that services of this kind have.

import type { Audience } from './authentication.ts'

export const ROUTES = [
  { name: 'campaign-create', method: 'POST', path: '/v1/campaigns', audience: 'account' },
  { name: 'campaign-search', method: 'GET', path: '/v1/campaigns', audience: 'account' },
  { name: 'campaign-get', method: 'GET', path: '/v1/campaigns/:id', audience: 'account' },
  { name: 'campaign-update', method: 'PUT', path: '/v1/campaigns/:id', audience: 'account' },
  {
    name: 'presign',
    method: 'POST',
    path: '/v1/presigned-storage-posting-post',
    audience: 'account',
  },
  {
    name: 'presign-bulk',
    method: 'POST',
    path: '/v1/presigned-storage-bulk-posting-post',
    audience: 'partner',
  },
  {
    name: 'validate',
    method: 'POST',
    path: '/v1/public-api/validate-authorization',
    audience: 'anyone',
  },
] as const satisfies readonly { name: string; method: string; path: string; audience: Audience }[]

/** PARAMETERS are the parameters of a query. Other routes have none. */
export const PARAMETERS: Partial<Record<RouteName, readonly string[]>> = {
  'campaign-search': ['Status', 'Name', 'Start', 'Num'],
}

export type RouteName = (typeof ROUTES)[number]['name']
