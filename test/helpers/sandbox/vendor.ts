// A vendor's client for the walk through the specification. It uses only fetch and node:crypto, and no code of the
// program.

import { createHmac } from 'node:crypto'
import { SECRET } from './client.ts'

export const ACCOUNT = { 'X-SVC-Account': '123' }
export const PARTNER = { 'X-SVC-Partner': 'acme', 'X-SVC-PartnerAccount': '42' }

/** AnswerJson has fields of several answers. A test reads the fields of its own call, and checks their values. */
interface AnswerJson {
  id: string
  message: string
  sponsoredPostings: number
  total: number
  fileUrl: string
  startDate: string
  postings: unknown[]
  campaigns: { id: string; name: string }[]
  url: string
  fields: Record<string, string>
  [field: string]: unknown
}

export interface Called<Json = AnswerJson> {
  status: number
  type: string | null
  json: Json
}

interface Call {
  who?: Record<string, string>
  date?: string
  /** signature replaces the correct signature; null sends none. */
  signature?: string | null
  secret?: string
}

/** call makes one signed call of the service. `path` can have a query. */
export async function call(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  { who = ACCOUNT, date = new Date().toUTCString(), signature, secret = SECRET }: Call = {},
): Promise<Called> {
  const [route, query = ''] = path.split('?')
  const text = body === undefined ? '' : JSON.stringify(body)
  const signed = createHmac('sha1', secret)
    .update(`${method}${route}?${query};${text};${date}`)
    .digest('base64')
  const headers: Record<string, string> = { ...who, 'X-SVC-Date': date }
  if (signature !== null) headers['X-SVC-Signature'] = signature ?? signed
  return answerOf(await fetch(base + path, { method, headers, ...(text !== '' && { body: text }) }))
}

/** answerOf reads an answer that is JSON or empty. `json` is null for an empty answer. */
export async function answerOf<Json = AnswerJson>(answer: Response): Promise<Called<Json>> {
  const [type, text] = [answer.headers.get('content-type'), await answer.text()]
  return { status: answer.status, type, json: text === '' ? null : JSON.parse(text) }
}

export const CAMPAIGNS = '/v1/campaigns'
export const PRESIGN = '/v1/presigned-storage-posting-post'

/** create creates a campaign named "Nurses", unless `fields` has another name. */
export const create = (base: string, fields: object = {}, options?: Call) =>
  call(base, 'POST', CAMPAIGNS, { name: 'Nurses', ...fields }, options)

/** setSpendAndLeads sets a campaign's spend and leads through the control route. */
export async function setSpendAndLeads(
  { controlUrl }: { controlUrl: string },
  id: string,
  numbers: { spend?: number; leads?: number },
): Promise<void> {
  const answer = await fetch(`${controlUrl}/campaigns/${id}`, {
    method: 'PUT',
    body: JSON.stringify(numbers),
  })
  if (!answer.ok) throw new Error(await answer.text())
}

/** upload makes the two steps of an upload, the form and the post, and returns the answer of storage. */
export async function upload(
  base: string,
  feed: string | Buffer,
  who: Record<string, string> = ACCOUNT,
) {
  const { json: form } = await call(base, 'POST', PRESIGN, undefined, { who })
  return await post(form, feed)
}

export function post(
  form: { url: string; fields: Record<string, string> },
  feed: string | Buffer,
  headers: Record<string, string> = {},
) {
  const body = new FormData()
  for (const [name, value] of Object.entries(form.fields)) body.append(name, value)
  body.append(
    'file',
    new Blob([Uint8Array.from(Buffer.from(feed))], { type: 'application/xml' }),
    'jobs.xml',
  )
  return fetch(form.url, { method: 'POST', body, headers })
}

/** feedOf returns a feed with one posting for each argument. */
export function feedOf(...postings: Record<string, string>[]): string {
  const jobs = postings.map((fields) => {
    const elements = Object.entries(fields).map(([name, value]) => `<${name}>${value}</${name}>`)
    return `<job>${elements.join('')}</job>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?><source>${jobs.join('')}</source>`
}
