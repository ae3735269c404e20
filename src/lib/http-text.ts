// Reads the answer of another host: whether it is a web page, and the times in Date and Retry-After. Also shortens an
// address of another host for people.

import { SECOND } from './clock.ts'
import { LONGEST_ATTEMPT_WAIT_MS } from './due.ts'
import { redact } from './secrets.ts'

/** shownAddress returns an address without user name, query and fragment; null if the text is not an address. */
export function shownAddress(address: string): string | null {
  const url = URL.parse(address)
  if (url === null || url.host === '') return null
  return redact(`${url.protocol}//${url.host}${url.pathname}`)
}

/** isHtml recognises a web page by its Content-Type or by its first tag, because some servers name no type. */
export function isHtml(headers: Readonly<Record<string, string>>, body: Buffer): boolean {
  return (
    /^\s*text\/html\b/i.test(headers['content-type'] ?? '') ||
    /^\s*<(!doctype\s+html|html|head|body)\b/i.test(body.subarray(0, 512).toString('latin1'))
  )
}

/**
 * retryAfterMs returns Retry-After (RFC 9110 section 10.2.3) in ms from now, at most 1 h; null if it is absent or
 * unreadable. A date counts from the answer's own Date, so that a wrong clock on either side does not matter.
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

/** httpDate returns the answer's Date in wall ms; null if it is absent, unreadable, or from a cache (it has an Age). */
export function httpDate(headers: Readonly<Record<string, string>>): number | null {
  const date = parseHttpDate(headers.date ?? '')
  return Number.isNaN(date) || headers.age !== undefined ? null : date
}

/** parseHttpDate checks the form first, because Date.parse reads "5" or "-3" as a year. */
function parseHttpDate(value: string): number {
  return /^[A-Z][a-z]+, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN
}

export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/.test(hostname)
}

/** Listen is where a server listens. */
export type Listen = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string }
