// Reads what a pre-signed form says about itself: the object key, the status that means success and, if the policy can
// be decoded, the expiry and the allowed sizes. The form itself stays unchanged.

import { shownAddress } from '../lib/http-text.ts'
import { redact } from '../lib/secrets.ts'
import type { UploadForm } from '../service/port.ts'

export interface FormFacts {
  kind: 'facts'
  form: UploadForm
  url: URL
  origin: string
  /** The object key without secrets, for display. */
  key: string
  /** The status that means success (specification section 4); 204 if the form names no status, as in S3. */
  expectedStatus: number
  /** The address to which storage redirects with 303 after success; null if the form asks for no redirect. */
  redirect: URL | null
  /** Wall ms; null if the policy has no expiry or cannot be read. */
  expiresAt: number | null
  /** The allowed sizes of the file alone, without the request body around it, in bytes; null if the policy has none. */
  sizes: readonly [min: number, max: number] | null
  /** The later address of the file without secrets, for display; null if the service does not name one. */
  fileUrl: string | null
}

/**
 * readFormFacts returns what the form says. It ignores unreadable parts of the policy, because storage enforces the
 * policy itself. Throws TypeError if `form.url` is not an address.
 */
export function readFormFacts(form: UploadForm): FormFacts {
  const url = new URL(form.url)
  const policy = decodePolicy(fieldOf(form, 'policy'))
  // `redirect` is the older name, which storage still accepts. Storage ignores a value that is not an address.
  const redirect = fieldOf(form, 'success_action_redirect') ?? fieldOf(form, 'redirect')
  const redirectTo = URL.parse(redirect ?? '')
  const named = fieldOf(form, 'success_action_status')?.trim() ?? ''
  const status = /^2\d\d$/.test(named) ? Number(named) : 204
  const expiration = typeof policy.expiration === 'string' ? Date.parse(policy.expiration) : NaN
  return {
    kind: 'facts',
    form,
    url,
    origin: url.origin,
    key: redact(fieldOf(form, 'key') ?? ''),
    // A redirect takes precedence over the status.
    expectedStatus: redirectTo === null ? status : 303,
    redirect: redirectTo,
    expiresAt: Number.isNaN(expiration) ? null : expiration,
    sizes: sizeRange(policy.conditions),
    fileUrl: form.fileUrl === null ? null : shownAddress(form.fileUrl),
  }
}

function fieldOf(form: UploadForm, name: string): string | undefined {
  return form.fields.find(([field]) => field.toLowerCase() === name)?.[1]
}

function decodePolicy(policy: string | undefined): { expiration?: unknown; conditions?: unknown } {
  if (policy === undefined) return {}
  try {
    const decoded: unknown = JSON.parse(Buffer.from(policy, 'base64').toString('utf8'))
    return typeof decoded === 'object' && decoded !== null ? decoded : {}
  } catch {
    return {}
  }
}

function sizeRange(conditions: unknown): FormFacts['sizes'] {
  for (const condition of Array.isArray(conditions) ? conditions : []) {
    if (!Array.isArray(condition)) continue
    const [name, ...range] = condition
    if (typeof name !== 'string' || name.toLowerCase() !== 'content-length-range') continue
    const [min, max] = range.map(sizeOf)
    if (min != null && max != null && min <= max) return [min, max]
  }
  return null
}

/** sizeOf reads a number of bytes, also from decimal digits; null for any other value: an empty text is not 0. */
function sizeOf(value: unknown): number | null {
  const isWritten = typeof value === 'string' && /^\d+$/.test(value)
  const size = isWritten ? Number(value) : value
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null
}
