// What a route of the service is, and the routes of an upload (specification section 4). Signing, dates and faults
// come before a route.

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
  /** Wall ms of the service. */
  now: number
  /** The fault that makes the form odd. */
  form: FaultOf<'form'> | undefined
}

export interface RouteAnswer {
  /** Default 200. */
  status?: number
  /** The error code, for the journal. */
  code?: string
  json: unknown
  /** Key of the object that the answer is about, for the journal. */
  key?: string
}

export interface Route {
  name: string
  method: string
  /** Relative to the base address; may capture an id. */
  path: RegExp
  audience: Audience
  answer(call: RouteCall): RouteAnswer
}

export function refusal(status: number, code: string, message: string): RouteAnswer {
  return { status, code, json: { code, message } }
}

export function uploadRoutes(issuer: FormIssuer, storageOrigin: string): Route[] {
  const presign = ({ caller, now, form }: RouteCall): RouteAnswer => {
    const issued = issuer.issue(caller, storageOrigin, now, form)
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
