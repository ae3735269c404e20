// Owns the one question whether storage has the file: by the status, the body and the ETag of its answer, and
// by whether the socket had taken the whole request when that answer came. Pure.

import { type Failure, failureOf, RULES, type Rule } from '../lib/decision-table.ts'
import type { HttpReply } from '../lib/http.ts'
import type { FormFacts } from './form.ts'
import { FILE_NAME } from './multipart.ts'
import type { StorageBody } from './storage-answer.ts'

export type Confirmation =
  | { kind: 'stored'; etagVerified: boolean; warning: string | null }
  | { kind: 'failed'; failure: Failure }

/** Storage sends these without a body: where the form names the status, the status is enough. */
const BARE: ReadonlySet<number> = new Set([200, 204])

/** Whether a status says success at all: a 2xx, or the redirect that the form asks for. */
export function isSuccess(status: number, { expectedStatus }: FormFacts): boolean {
  return (status >= 200 && status < 300) || status === expectedStatus
}

/**
 * Of an answer for which `isSuccess`, and whose body is no error. `md5`: of the file that was sent, in hex; `common`:
 * what a failure says of every answer.
 */
export function confirm(
  reply: HttpReply,
  body: StorageBody,
  facts: FormFacts,
  md5: string,
  common: Partial<Failure>,
): Confirmation {
  const { status, headers } = reply
  const notStored = (rule: Rule, code: string, how: string): Confirmation => {
    // It may be stored nevertheless.
    const ambiguous = rule === RULES.answeredEarly || rule === RULES.unconfirmed
    const reason = `storage answered ${status} ${how}`
    return { kind: 'failed', failure: failureOf(rule, { ...common, code, reason, ambiguous }) }
  }
  if (!reply.sentAll)
    return notStored(RULES.answeredEarly, 'answered-early', 'before it was sent the whole file')
  const redirect = redirectOf(headers.location, facts)
  const etag =
    readEtag(headers.etag) ??
    readEtag(body.kind === 'posted' ? body.etag : null) ??
    readEtag(redirect?.searchParams.get('etag'))
  const isNamed = status === facts.expectedStatus
  const stored: Confirmation = {
    kind: 'stored',
    etagVerified: etag?.value === md5,
    warning: isNamed
      ? null
      : `storage answered ${status} where the form names ${facts.expectedStatus}; taken as stored`,
  }
  if (stored.etagVerified) return stored
  if (body.kind === 'foreign' || (status === 303 && redirect === null))
    return notStored(RULES.notStorage, `http-${status}`, "with a page that is not storage's")
  if (etag?.isMd5 && !isEncrypted(headers))
    return notStored(
      RULES.digestDiffers,
      'etag-mismatch',
      `with another checksum than the file has here (${md5})`,
    )
  const key = body.kind === 'posted' ? body.key : (redirect?.searchParams.get('key') ?? null)
  if (key !== null && !isKeyOf(key, facts))
    return notStored(RULES.unconfirmed, 'other-key', 'and names another object than the form does')
  const isConfirmed =
    body.kind === 'posted' ||
    redirect !== null ||
    (etag !== null && !etag.isWeak) ||
    // A cut answer proves nothing: storage may send blanks until it knows the result.
    (isNamed && BARE.has(status) && !reply.bodyCut)
  if (isConfirmed) return stored
  return notStored(
    RULES.unconfirmed,
    'unconfirmed',
    'with neither an ETag nor a document that says the file is stored',
  )
}

interface Etag {
  value: string
  isMd5: boolean
  /** A web server sends weak ETags for its pages. Storage never does, but a proxy may weaken a correct one. */
  isWeak: boolean
}

/** Quoted, weak or bare; null where there is none. `"md5-parts"` of a multipart upload is no MD5. */
function readEtag(text: string | null | undefined): Etag | null {
  const [, weak, value] = /^\s*(W\/)?"?([^"]+)"?\s*$/i.exec(text ?? '') ?? []
  if (value === undefined) return null
  const isMd5 = /^[0-9a-f]{32}$/i.test(value)
  return { value: isMd5 ? value.toLowerCase() : value, isMd5, isWeak: weak !== undefined }
}

/** Where the form asked to be sent to after success, as storage sends there; null: somewhere else, or nowhere. */
function redirectOf(location: string | undefined, { redirect }: FormFacts): URL | null {
  const to = location === undefined ? null : URL.parse(location)
  const isAsked = redirect !== null && to?.origin === redirect.origin
  return isAsked && to.pathname === redirect.pathname ? to : null
}

/** Storage puts the name of the file in place of "${filename}", and some escape the key as in an address. */
function isKeyOf(named: string, { form }: FormFacts): boolean {
  const key = form.fields.find(([name]) => name.toLowerCase() === 'key')?.[1] ?? ''
  const ours = key.replace(/\$\{filename\}/g, FILE_NAME)
  return named === ours || named === encodeURIComponent(ours) || named === encodeURI(ours)
}

/** Under KMS or a customer's key the ETag looks like an MD5 and is none. */
function isEncrypted(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) =>
      (name.endsWith('-server-side-encryption') && value.includes('kms')) ||
      name.endsWith('-server-side-encryption-customer-algorithm'),
  )
}
