// What a route of the service is, and the routes of an upload (specification section 4). Signing, dates and faults
// come before a route.

import type { RouteAnswer } from './answer.ts'
import type { Audience, Caller, ServiceRequest } from './authentication.ts'
import type { FaultOf } from './fault-types.ts'
import type { FormIssuer } from './form-issuer.ts'

const PRESIGN = /^\/v1\/presigned-storage-posting-post$/
const PRESIGN_BULK = /^\/v1\/presigned-storage-bulk-posting-post$/
const VALIDATE = /^\/v1\/public-api\/validate-authorization$/

export interface RouteCall {
  caller: Caller
  request: ServiceRequest
  /** What the path captured, decoded; empty where it captures nothing. */
  id: string
  /** The whole address that was called. */
  url: string
  /** Whole ms since the request came. */
  elapsed(): number
  /** Wall ms of the service. */
  now: number
  /** The fault that makes the form odd. */
  form: FaultOf<'form'> | undefined
}

export interface Route {
  name: string
  method: string
  /** Relative to the base address; may capture an id. */
  path: RegExp
  audience: Audience
  answer(call: RouteCall): RouteAnswer | Promise<RouteAnswer>
}

/** `originFor`: of the storage, for a client that called this address of the service. */
export function uploadRoutes(issuer: FormIssuer, originFor: (url: string) => string): Route[] {
  const presign = ({ caller, url, now, form }: RouteCall): RouteAnswer => {
    const issued = issuer.issue(caller, originFor(url), now, form)
    return { json: issued, key: issued.fields.key ?? '' }
  }
  const validate = () => ({ json: 'Authorization is valid.' })
  const method = 'POST'
  return [
    { name: 'presign', method, path: PRESIGN, audience: 'account', answer: presign },
    { name: 'presign-bulk', method, path: PRESIGN_BULK, audience: 'partner', answer: presign },
    { name: 'validate', method, path: VALIDATE, audience: 'anyone', answer: validate },
  ]
}
