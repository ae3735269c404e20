// Owns reading the JSON of a pre-signed form. Unknown members are left alone; what the upload depends on
// must be exactly right, because storage verifies every byte of it.

import { isUtf8 } from 'node:buffer'
import { isLoopback } from '../lib/http-text.ts'
import { redact, registerTemporarySecret } from '../lib/secrets.ts'
import { isObject, parseBody, Unusable } from './json-answer.ts'
import type { UploadForm } from './port.ts'

/** A form that must not be posted. What is no form is `Unusable` only: another server may have answered. */
export class Rejected extends Unusable {}

type Members = Array<[name: string, value: unknown]>

/** `base`: address of the service. Throws `Unusable`, whose message repeats nothing of the body: a form is a credential. */
export function readForm(body: Buffer, base: URL): UploadForm {
  if (!isUtf8(body)) throw new Unusable('a body that is not UTF-8')
  const members = membersOf(parseBody(body, parseInOrder))
  if (members === null) throw new Unusable('JSON that is not an object')
  const twice = ['url', 'fields'].find((name) => members.filter(([n]) => n === name).length > 1)
  if (twice !== undefined) throw new Rejected(`a form with "${twice}" twice`)
  const { url, fileUrl, fields } = Object.fromEntries(members)
  const given = membersOf(fields)
  if (typeof url !== 'string') throw new Unusable('a form without "url"')
  if (given === null) throw new Unusable('a form without "fields"')
  // What a service leaves empty, such as a token that it does not use, is no field.
  const used = given.filter(([, value]) => value !== null)
  const isPlain = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value)
  if (!used.every(([, value]) => isPlain(value)))
    throw new Unusable('a form with a field that is not text')
  const entries = used.map(([name, value]) => [name, String(value)] as const)
  registerSecretFields(entries)
  if (!entries.some(([name]) => name.toLowerCase() === 'key'))
    throw new Unusable('a form without the field "key"')
  const to = URL.parse(url)
  const problem = addressProblem(to, base) ?? fieldProblem(entries)
  if (to === null || problem !== null) throw new Rejected(`a form ${problem}`)
  // The host is shown to people, and name servers are asked for it.
  if (redact(to.host) !== to.host) throw new Rejected('a form whose "url" has a secret in its host')
  // The upload does not need the later address, so nobody waits for it.
  const later = typeof fileUrl === 'string' && fileUrl !== '' ? fileUrl : null
  return { url, fileUrl: later, fields: entries }
}

/** Anybody may see these fields: they name the object, or say what is expected of it, and how it is kept. */
const PUBLIC_FIELD =
  /^(key|bucket|(success_action_)?redirect|success_action_status|acl|cache-control|content-(type|disposition|encoding)|expires|.*-(algorithm|date|storage-class))$/i

/** The service may repeat a secret field in the object's key or address, which are shown. */
function registerSecretFields(fields: UploadForm['fields']): void {
  for (const [name, value] of fields) {
    if (PUBLIC_FIELD.test(name)) continue
    registerTemporarySecret(value)
    // An access key's name comes with a date, a region and a service, which are no secrets.
    if (/credential$/i.test(name)) registerTemporarySecret(value.replace(/\/.*/s, ''))
  }
}

/** Why nothing may be posted there; null when it may. */
function addressProblem(to: URL | null, base: URL): string | null {
  if (to === null) return 'whose "url" is no address'
  const isLocal = to.protocol === 'http:' && isLoopback(to) && isLoopback(base)
  if (to.protocol !== 'https:' && !isLocal) return 'whose "url" is not an https address'
  if (to.username !== '' || to.password !== '') return 'whose "url" has a user name or password'
  // Each of its routes begins with /v1/ (specification section 4).
  const root = base.pathname.replace(/\/+$/, '')
  const isService = to.pathname === `${root}/` || to.pathname.startsWith(`${root}/v1/`)
  return to.origin === base.origin && isService ? 'whose "url" is the service itself' : null
}

/**
 * Storage compares names without regard to case, and takes the part called "file" for the file itself. Quotes
 * and other letters are encoded (multipart.ts), line ends of values are sent as they are.
 */
function fieldProblem(fields: UploadForm['fields']): string | null {
  const seen = new Set<string>()
  for (const [name, value] of fields) {
    const plain = name.toLowerCase()
    if (name === '') return 'with a field that has no name'
    if (plain === 'file') return 'with a field called "file", which is the name of the file itself'
    if (seen.has(plain)) return 'with a field twice'
    if (/\p{Cc}/u.test(name)) return 'with a control character in the name of a field'
    if (!name.isWellFormed() || !value.isWellFormed())
      return 'with a field that is not text that can be sent'
    seen.add(plain)
  }
  return null
}

/**
 * A JavaScript object moves names that are integers to the front, and keeps one of two that are equal: with a
 * number and a dot before each, neither happens. A parser that keeps both takes 250 us a form, this takes 12.
 */
function parseInOrder(text: string): unknown {
  JSON.parse(text)
  let n = 0
  // It is valid JSON by now, so every quote begins or ends a text.
  const numbered = text.replace(/"([^"\\]*(?:\\.[^"\\]*)*)"(?=\s*(:?))/g, (string, name, colon) =>
    colon === '' ? string : `"${n++}.${name}"`,
  )
  return JSON.parse(numbered)
}

/** Null for what is no object. */
function membersOf(value: unknown): Members | null {
  if (!isObject(value)) return null
  return Object.entries(value).map(([name, member]) => [name.slice(name.indexOf('.') + 1), member])
}
