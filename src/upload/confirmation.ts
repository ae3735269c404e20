// Decides whether storage has the file: by the status, the body and the ETag of the answer, and by whether the socket
// had taken the whole request when the answer came. Pure functions.

import type { Rule } from '../domain/decision-rule.ts'
import { type Failure, failureOf, RULES } from '../domain/decision-table.ts'
import type { HttpReply } from '../lib/http.ts'
import type { FormFacts } from './form.ts'
import { FILE_NAME } from './multipart.ts'
import type { StorageBody } from './storage-answer.ts'

export type Confirmation =
  | { kind: 'stored'; etagVerified: boolean; warning: string | null }
  | { kind: 'failed'; failure: Failure }

/** Storage sends these statuses without a body. Such an answer confirms the file if the form names the status. */
const BARE: ReadonlySet<number> = new Set([200, 204])

/** isSuccess reports whether a status can mean success: a 2xx, or the redirect that the form asks for. */
export function isSuccess(status: number, { expectedStatus }: FormFacts): boolean {
  return (status >= 200 && status < 300) || status === expectedStatus
}

/** SentFile is the file that storage answers about, and the form that it was sent with. */
export interface SentFile {
  facts: FormFacts
  /** In lower-case hex. */
  md5: string
}

interface ReadAnswer {
  body: StorageBody
  /** The details that every failure of this answer shares. */
  common: Partial<Failure>
}

/** judgeSuccess judges whether an answer with a success status, and without an error document, confirms the file. */
export function judgeSuccess(
  reply: HttpReply,
  { body, common }: ReadAnswer,
  { facts, md5 }: SentFile,
): Confirmation {
  const { status, headers } = reply
  const notStored = (rule: Rule, code: string, how: string): Confirmation => {
    // Storage might have the file although it answered early or without a confirmation.
    const ambiguous = rule === RULES.answeredEarly || rule === RULES.unconfirmed
    const reason = `storage answered ${status} ${how}`
    return { kind: 'failed', failure: failureOf(rule, { ...common, code, reason, ambiguous }) }
  }
  if (!reply.sentAll)
    return notStored(RULES.answeredEarly, 'answered-early', 'before the whole file was sent')
  const redirect = redirectOf(headers.location, facts)
  const etag =
    readEtag(headers.etag) ??
    readEtag(body.kind === 'posted' ? body.etag : null) ??
    readEtag(redirect?.searchParams.get('etag'))
  const isExpected = status === facts.expectedStatus
  const stored: Confirmation = {
    kind: 'stored',
    etagVerified: etag?.value === md5,
    warning: isExpected
      ? null
      : `storage answered ${status} and the form names ${facts.expectedStatus}; the file counts as stored`,
  }
  if (stored.etagVerified) return stored
  if (body.kind === 'foreign' || (status === 303 && redirect === null))
    return notStored(RULES.notStorage, `http-${status}`, "with a page that is not storage's")
  if (etag?.isMd5 && !isEncrypted(headers))
    return notStored(
      RULES.digestDiffers,
      'etag-mismatch',
      `with a checksum that differs from the file's (${md5})`,
    )
  const key = body.kind === 'posted' ? body.key : (redirect?.searchParams.get('key') ?? null)
  if (key !== null && !isKeyOf(key, facts))
    return notStored(RULES.unconfirmed, 'other-key', 'and named another object than the form')
  const isConfirmed =
    body.kind === 'posted' ||
    redirect !== null ||
    (etag !== null && !etag.isWeak) ||
    // A cut answer proves nothing: storage can send spaces until it knows the result.
    (isExpected && BARE.has(status) && !reply.bodyCut)
  if (isConfirmed) return stored
  return notStored(
    RULES.unconfirmed,
    'unconfirmed',
    'without an ETag or a document that confirms the file',
  )
}

interface Etag {
  value: string
  isMd5: boolean
  /** A web server sends weak ETags for its pages. Storage never does, but a proxy can weaken a correct ETag. */
  isWeak: boolean
}

/** readEtag reads a quoted, weak or bare ETag; null if there is none. The ETag of a multipart upload is not an MD5. */
function readEtag(text: string | null | undefined): Etag | null {
  const [, weak, value] = /^\s*(W\/)?"?([^"]+)"?\s*$/i.exec(text ?? '') ?? []
  if (value === undefined) return null
  const isMd5 = /^[0-9a-f]{32}$/i.test(value)
  return { value: isMd5 ? value.toLowerCase() : value, isMd5, isWeak: weak !== undefined }
}

/** redirectOf returns the address of a redirect if the form asked for this address; null for any other answer. */
function redirectOf(location: string | undefined, { redirect }: FormFacts): URL | null {
  const to = location === undefined ? null : URL.parse(location)
  const isAsked = redirect !== null && to?.origin === redirect.origin
  return isAsked && to.pathname === redirect.pathname ? to : null
}

/**
 * isKeyOf returns whether storage named the object key of the form. Storage replaces "${filename}" in the key with the
 * name of the file, and some storages escape the key as in an address.
 */
function isKeyOf(named: string, { form }: FormFacts): boolean {
  const key = form.fields.find(([name]) => name.toLowerCase() === 'key')?.[1] ?? ''
  const ours = key.replace(/\$\{filename\}/g, FILE_NAME)
  return named === ours || named === encodeURIComponent(ours) || named === encodeURI(ours)
}

/** isEncrypted returns whether a KMS or customer key encrypts the object: its ETag looks like an MD5 but is not one. */
function isEncrypted(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) =>
      (name.endsWith('-server-side-encryption') && value.includes('kms')) ||
      name.endsWith('-server-side-encryption-customer-algorithm'),
  )
}
