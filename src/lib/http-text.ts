// Owns what may be shown and read of another host's answer: a short excerpt in which nothing that is or
// looks like a credential survives, codes, addresses, and the times in Date and Retry-After.

import { SECOND } from './clock.ts'
import { LONGEST_ATTEMPT_WAIT_MS } from './due.ts'
import { holdsSecret, plainText, redactParts } from './redact.ts'
import type { SecretSet } from './secret-set.ts'

const EXCERPT = 300
/** Of an answer that is searched for secrets, in characters. */
const SEARCHED = 16 * 1024

/** Long runs of letters and digits mixed, or of hex digits: keys, signatures, policies and tokens look so. */
const TOKEN = /[A-Za-z0-9+/_=-]{20,}/g
const HEX = /^[0-9a-f]{24,}$/i
/** A word with few digits: more of them may encode something. */
const CODE = /^(?!(?:\D*\d){7})[A-Za-z][A-Za-z0-9._-]{0,63}$/

/**
 * One line of at most 300 characters, its escapes undone. Secrets and whatever looks like one are replaced;
 * addresses lose user name, query and fragment, control characters their effect. `own`: see `redact`.
 */
export function excerpt(text: string, own?: SecretSet): string {
  // Characters that nobody sees could hide a secret from the search.
  const seen = text.slice(0, SEARCHED).replace(/(?!\s)[\p{Cc}\p{Cf}]/gu, '')
  const shown = plainText(seen, own)
    .replace(/\/\/[^\s/?#"'<>]*@/g, '//')
    .replace(/(\w:\/\/[^\s"'<>?#]*)[?#][^\s"'<>]*/g, '$1')
    .replace(/\?[\w.~[\]-]+=[^\s"'<>]*/g, '')
    .replace(TOKEN, hideToken)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
  return shown.length > EXCERPT ? `${shown.slice(0, EXCERPT - 1)}…` : shown
}

/** A code that another host names its error by; null when it is no word, or holds a secret. */
export function shownCode(code: string, own?: SecretSet): string | null {
  return CODE.test(code) && code.replace(TOKEN, hideToken) === code && !holdsSecret(code, own)
    ? code
    : null
}

/** Scheme, host and port of an address, and nothing else of it. */
export function shownOrigin({ protocol, host }: URL, own?: SecretSet): string {
  return `${protocol}//${redactParts(host, '.', own)}`
}

/** An address without user name, query and fragment; null for what is no address of a host. */
export function shownAddress(address: string, own?: SecretSet): string | null {
  const url = URL.parse(address)
  if (url === null || url.host === '') return null
  return `${shownOrigin(url, own)}${redactParts(url.pathname, '/', own)}`
}

/** Base64 of a token, for example, is none of the secrets that are known. */
function hideToken(run: string): string {
  const isMixed = [/[a-z]/, /[A-Z]/, /[0-9+=]/].every((kind) => kind.test(run))
  return isMixed || HEX.test(run) ? '[secret]' : run
}

/** RFC 9110 section 8.8.1 first: a body of HTML, whatever the answer calls itself. */
export function isHtml(headers: Readonly<Record<string, string>>, body: Buffer): boolean {
  return (
    /^\s*text\/html\b/i.test(headers['content-type'] ?? '') ||
    /^\s*<(!doctype\s+html|html|head|body)\b/i.test(body.subarray(0, 512).toString('latin1'))
  )
}

/**
 * Retry-After (RFC 9110 section 10.2.3) in ms from now: seconds, or a date measured against the answer's own
 * Date, so that a wrong clock on either side does not matter. Null when absent or unreadable; at most 1 h.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  wallNow: number,
): number | null {
  const value = headers['retry-after']?.trim()
  if (value === undefined || value === '') return null
  const wait = /^\d+$/.test(value)
    ? Number(value) * SECOND
    : parseHttpDate(value) - (httpDate(headers) ?? wallNow)
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), LONGEST_ATTEMPT_WAIT_MS)
}

/** The answer's Date in wall ms; null when absent, unreadable, or a cache's (it then has an Age). */
export function httpDate(headers: Readonly<Record<string, string>>): number | null {
  const date = parseHttpDate(headers.date ?? '')
  return Number.isNaN(date) || headers.age !== undefined ? null : date
}

/** Date.parse takes "5" or "-3" for a year: an HTTP date begins with its day and ends in GMT. */
function parseHttpDate(value: string): number {
  return /^[A-Z][a-z]+, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN
}

export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/.test(hostname)
}
