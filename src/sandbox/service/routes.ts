// This file has the routes of the service (specification section 4), and two routes that services of this kind have in
// addition: `presign-bulk` and `validate`.

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

/** PARAMETERS are the parameters that the query of a route can have. Routes that are not here have none. */
export const PARAMETERS: Partial<Record<RouteName, readonly string[]>> = {
  'campaign-search': ['Status', 'Name', 'Start', 'Num'],
}

export type RouteName = (typeof ROUTES)[number]['name']
