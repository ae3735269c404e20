// What a route of the service is, and the routes of an upload (specification section 4). Signing, dates and faults
// come before a route.

import type { Audience, Caller, ServiceRequest } from './authentication.ts'
import { type Answer, Refusal } from './exchange.ts'
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

export interface RouteAnswer {
  /** Default 200. */
  status?: number
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
  answer(call: RouteCall): RouteAnswer | Promise<RouteAnswer>
}

/** `text`: in place of the JSON; `code`: of an error. */
export function jsonAnswer(
  { status = 200, json }: RouteAnswer,
  text = JSON.stringify(json),
  code: string | null = null,
): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: Buffer.from(text), code }
}

export function refuse(status: number, code: string, message: string): never {
  throw new Refusal(jsonAnswer({ status, json: { code, message } }, undefined, code))
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
