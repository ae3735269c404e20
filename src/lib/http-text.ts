// Owns what may be shown and read of another host's answer: a short excerpt in which nothing that looks
// like a credential survives, and the times in Date and Retry-After.

import { HOUR, SECOND } from './clock.ts'

const EXCERPT = 300

/** Long runs of letters and digits mixed, or of hex digits: keys, signatures, policies and tokens look so. */
const TOKEN = /[A-Za-z0-9+/_=-]{20,}/g
const HEX = /^[0-9a-f]{24,}$/i

/**
 * One line of at most 300 characters. `secrets` and whatever looks like one are replaced, addresses lose
 * their query string, control characters their effect.
 */
export function excerpt(text: string, secrets: readonly string[] = []): string {
  let shown = text.slice(0, 16 * 1024)
  for (const secret of secrets.toSorted((a, b) => b.length - a.length))
    if (secret.length >= 4) shown = shown.replaceAll(secret, '[secret]')
  shown = shown
    .replace(/:\/\/[^\s/@]*@/g, '://')
    .replace(/(\w:\/\/[^\s"'<>?]*)\?[^\s"'<>]*/g, '$1')
    .replace(TOKEN, (run) => (HEX.test(run) || isMixed(run) ? '[secret]' : run))
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
  return shown.length > EXCERPT ? `${shown.slice(0, EXCERPT - 1)}…` : shown
}

function isMixed(run: string): boolean {
  return [/[a-z]/, /[A-Z]/, /[0-9+=]/].every((kind) => kind.test(run))
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
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), HOUR)
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

/** https, or http to this machine (design section 6): what we carry must not cross a network in clear. */
export function isSafeAddress({ protocol, hostname }: URL): boolean {
  const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && loopback)
}
