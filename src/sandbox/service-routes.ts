// The service's routes of specification section 4: method, path, audience and answer. A new part of
// the service (campaigns) is another list of routes; signing, dates and faults come before them.

import type { Audience, Caller, ServiceRequest } from './authentication.ts'
import type { FormIssuer, FormTwist } from './form-issuer.ts'

export interface RouteCall {
  caller: Caller
  request: ServiceRequest
  /** What `path` captured. */
  params: Record<string, string>
  /** Wall ms of the service. */
  now: number
  twist: FormTwist | undefined
}

export interface RouteAnswer {
  /** 200 unless said otherwise. */
  status?: number
  json: unknown
  /** Key of the object that the answer is about, for the journal. */
  key?: string
}

export interface Route {
  name: string
  method: string
  /** Relative to the base address; `{id}` captures one segment. */
  path: string
  audience: Audience
  answer(call: RouteCall): RouteAnswer
}

export function uploadRoutes(issuer: FormIssuer, storageOrigin: string): Route[] {
  const presign = ({ caller, now, twist }: RouteCall): RouteAnswer => {
    const form = issuer.issue(caller, storageOrigin, now, twist)
    return { json: form, key: form.fields.key ?? '' }
  }
  return [
    {
      name: 'presign',
      method: 'POST',
      path: '/v1/presigned-storage-posting-post',
      audience: 'account',
      answer: presign,
    },
    {
      name: 'presign-bulk',
      method: 'POST',
      path: '/v1/presigned-storage-bulk-posting-post',
      audience: 'partner',
      answer: presign,
    },
    {
      name: 'validate',
      method: 'POST',
      path: '/v1/public-api/validate-authorization',
      audience: 'anyone',
      answer: () => ({ json: 'Authorization is valid.' }),
    },
  ]
}

export interface RouteTable {
  /** The route of a request, `wrong-method` where only the path is known, or null. */
  find(
    method: string,
    path: string,
  ): { route: Route; params: Record<string, string> } | 'wrong-method' | null
}

export function routeTable(routes: readonly Route[]): RouteTable {
  const compiled = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  }))
  return {
    find: (method, path) => {
      const onPath = compiled.flatMap(({ route, pattern }) => {
        const match = pattern.exec(path)
        return match === null ? [] : [{ route, params: { ...match.groups } }]
      })
      if (onPath.length === 0) return null
      return onPath.find(({ route }) => route.method === method) ?? 'wrong-method'
    },
  }
}
