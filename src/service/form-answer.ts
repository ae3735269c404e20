// Reads the JSON of a pre-signed form. It ignores unknown members, but the parts that the upload needs must be exactly
// right, because storage verifies every byte of them.

import { isUtf8 } from 'node:buffer'
import { isLoopback } from '../lib/http-text.ts'
import { redact, registerTemporarySecret } from '../lib/secrets.ts'
import { parseBody, Unusable } from './json-answer.ts'
import { Members, parseInOrder } from './ordered-json.ts'
import type { UploadForm } from './port.ts'

/** Rejected says why a form must not be posted. For a body that is not a form, `readForm` throws a plain `Unusable`. */
export class Rejected extends Unusable {}

/**
 * readForm reads a form from an answer of the service at `base`, and registers the secret fields, so that no message
 * shows them. Throws `Unusable` or `Rejected`, whose message repeats no part of the body: a form is a credential.
 */
export function readForm(body: Buffer, base: URL): UploadForm {
  if (!isUtf8(body)) throw new Unusable('a body that is not UTF-8')
  const members = parseBody(body, parseInOrder)
  if (!(members instanceof Members)) throw new Unusable('JSON that is not an object')
  const twice = ['url', 'fields'].find((name) => members.filter(([n]) => n === name).length > 1)
  if (twice !== undefined) throw new Rejected(`a form with "${twice}" twice`)
  const { url, fileUrl, fields } = Object.fromEntries(members)
  if (typeof url !== 'string') throw new Unusable('a form without "url"')
  if (!(fields instanceof Members)) throw new Unusable('a form without "fields"')
  // A service can write null for a field that it does not use, such as a token.
  const used = fields.filter(([, value]) => value !== null)
  const isPlain = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value)
  if (!used.every(([, value]) => isPlain(value)))
    throw new Unusable('a form with a field that is not text')
  const entries = used.map(([name, value]) => [name, String(value)] as const)
  registerSecretFields(entries)
  if (!entries.some(([name]) => name.toLowerCase() === 'key'))
    throw new Unusable('a form without the field "key"')
  const to = URL.parse(url)
  const reason = whyNotPostableTo(to, base) ?? whyNotPostable(entries)
  if (to === null || reason !== null) throw new Rejected(`a form ${reason}`)
  // The host appears in messages and in DNS queries, so it must not contain a secret.
  if (redact(to.host) !== to.host) throw new Rejected('a form whose "url" has a secret in its host')
  // The upload does not need the later address of the file, so a form without `fileUrl` is good.
  const later = typeof fileUrl === 'string' && fileUrl !== '' ? fileUrl : null
  return { url, fileUrl: later, fields: entries }
}

/** These fields are not secrets: they name the object, or say how storage checks and keeps it. */
const PUBLIC_FIELD =
  /^(key|bucket|(success_action_)?redirect|success_action_status|acl|cache-control|content-(type|disposition|encoding)|expires|.*-(algorithm|date|storage-class))$/i

/** registerSecretFields hides secret values, because the service can repeat them in the object key or in an address. */
function registerSecretFields(fields: UploadForm['fields']): void {
  for (const [name, value] of fields) {
    if (PUBLIC_FIELD.test(name)) continue
    registerTemporarySecret(value)
    // The value is the name of an access key, and then a date, a region and a service, which are not secrets.
    if (/credential$/i.test(name)) registerTemporarySecret(value.replace(/\/.*/s, ''))
  }
}

/** whyNotPostableTo returns why a form must not be posted to this address; null if it may be posted. */
function whyNotPostableTo(to: URL | null, base: URL): string | null {
  if (to === null) return 'whose "url" is not an address'
  const isLocal = to.protocol === 'http:' && isLoopback(to) && isLoopback(base)
  if (to.protocol !== 'https:' && !isLocal) return 'whose "url" is not an https address'
  if (to.username !== '' || to.password !== '') return 'whose "url" has a user name or password'
  // Each route of the service begins with /v1/ (specification section 4).
  const root = base.pathname.replace(/\/+$/, '')
  const isService = to.pathname === `${root}/` || to.pathname.startsWith(`${root}/v1/`)
  return to.origin === base.origin && isService ? 'whose "url" is the service itself' : null
}

/**
 * whyNotPostable returns why the fields cannot be posted; null if they can. Storage ignores the case of names and reads
 * the part called "file" as the file itself. Quotes in names, line ends in values, and letters that are not ASCII are
 * allowed, because upload/multipart.ts can send them.
 */
function whyNotPostable(fields: UploadForm['fields']): string | null {
  const seen = new Set<string>()
  for (const [name, value] of fields) {
    const plain = name.toLowerCase()
    if (name === '') return 'with a field that has no name'
    if (plain === 'file') return 'with a field called "file", which is the name of the file itself'
    if (seen.has(plain)) return 'with a field twice'
    if (/\p{Cc}/u.test(name)) return 'with a control character in the name of a field'
    if (!name.isWellFormed() || !value.isWellFormed())
      return 'with a field whose text cannot be sent'
    seen.add(plain)
  }
  return null
}
