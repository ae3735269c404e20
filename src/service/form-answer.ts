// Owns reading the JSON of a pre-signed form. Unknown members are left alone; what the upload depends on
// must be exactly right, because storage verifies every byte of it.

import { excerpt, isSafeAddress } from '../lib/http-text.ts'
import { holdsSecret, rememberForm } from '../lib/redact.ts'
import type { UploadForm } from './port.ts'

export type FormReading =
  | { kind: 'form'; form: UploadForm }
  | { kind: 'unreadable'; reason: string }

/** `reason` is a clause about the body and repeats nothing of it: a form is a credential. */
export function readForm(body: Buffer): FormReading {
  let answer: unknown
  try {
    answer = parseInOrder(body.toString('utf8').replace(/^\uFEFF/, ''))
  } catch {
    return unreadable(body.length === 0 ? 'an empty body' : 'a body that is not valid JSON')
  }
  if (!isObject(answer)) return unreadable('JSON that is not an object')
  const { '.url': url, '.fileUrl': fileUrl, '.fields': fields } = answer
  if (typeof url !== 'string') return unreadable('a form without "url"')
  if (!isObject(fields)) return unreadable('a form without "fields"')
  const to = URL.parse(url)
  if (to === null || !isSafeAddress(to))
    return unreadable('a form whose "url" is not an https address')
  // What a service leaves empty, such as a token that it does not use, is no field.
  const given = Object.entries(fields).filter(([, value]) => value !== null)
  const entries = given.map(([dotted, value]) => [dotted.slice(1), String(value)] as const)
  const secrets = rememberForm(entries, [url])
  const odd = given.find(([, value]) => typeof value !== 'string' && !Number.isSafeInteger(value))
  if (odd !== undefined)
    return unreadable(`a form whose field "${excerpt(odd[0].slice(1), secrets)}" is not text`)
  if (!entries.some(([name]) => name.toLowerCase() === 'key'))
    return unreadable('a form without the field "key"')
  // The host is shown, and is asked of name servers.
  if (holdsSecret(to.host, secrets))
    return unreadable('a form whose "url" has a secret in its host')
  // The upload does not need the later address, so nobody waits for it.
  const later = typeof fileUrl === 'string' && fileUrl !== '' ? fileUrl : null
  return { kind: 'form', form: { url, fileUrl: later, fields: entries } }
}

/** A JavaScript object moves names that are integers to the front: with a dot before each, none is. */
function parseInOrder(text: string): unknown {
  JSON.parse(text)
  // Valid by now, so that every quote is where it should be. A name given twice has its last value.
  const dotted = text.replace(/"([^"\\]*(?:\\.[^"\\]*)*)"(?=\s*(:?))/g, (string, name, colon) =>
    colon === '' ? string : `".${name}"`,
  )
  return JSON.parse(dotted)
}

function unreadable(reason: string): FormReading {
  return { kind: 'unreadable', reason }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
