// Owns what may be read of another host's answer: whether it is a web page, the times in Date and Retry-After; and
// how an address of another host is shown.

import { SECOND } from './clock.ts'
import { LONGEST_ATTEMPT_WAIT_MS } from './due.ts'
import { redact } from './secrets.ts'

/** An address without user name, query and fragment; null for what is no address of a host. */
export function shownAddress(address: string): string | null {
  const url = URL.parse(address)
  if (url === null || url.host === '') return null
  return redact(`${url.protocol}//${url.host}${url.pathname}`)
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
