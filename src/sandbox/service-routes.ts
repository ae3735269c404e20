// This file defines a route, and has the routes of an upload (specification section 4). The service checks signature
// and date and plays faults before it calls a route.

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
  /** id is the decoded id in the path, or empty if the route has none. */
  id: string
  /** url is the full address of the request. */
  url: string
  /** elapsed returns whole ms since the request arrived. */
  elapsed(): number
  /** now is the service's wall clock in ms. */
  now: number
  /** form is the fault that changes the form, if any. */
  form: FaultOf<'form'> | undefined
}

export interface Route {
  name: string
  method: string
  /** path is relative to the base address and may capture an id. */
  path: RegExp
  audience: Audience
  answer(call: RouteCall): RouteAnswer | Promise<RouteAnswer>
}

/** uploadRoutes returns the routes of an upload. `originFor` maps the called address to the origin of the storage. */
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
