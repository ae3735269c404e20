// Owns what is never shown: the secrets that this process knows, and how much of another program's text may be
// repeated. What is secret is so in the whole process, so the values are kept here and not with those who use them.

import { inspect } from 'node:util'

/** A value that cannot print itself: templates, JSON, console and logs all show `[secret]`. */
export class Secret {
  readonly #value: Buffer

  constructor(value: Buffer | string) {
    this.#value = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf8')
  }

  /** The value itself: call it where the value is used, never to keep it. */
  reveal(): Buffer {
    return this.#value
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [inspect.custom](): string {
    return SHOWN
  }
}

const SHOWN = '[secret]'
/** A shorter value occurs by chance. */
const SHORTEST = 4
/** A value of this length does not occur by chance, not even in a name that somebody chose. */
const LONG = 12
/** Values of forms, and signatures: those of about 25 uploads. */
const MOST_RECENT = 150
/** The name and the address of an object, in which the service could repeat one, have no room for a longer value. */
const LONGEST_RECENT = 2 * 1024
/** A token in an address is longer than the words beside it. */
const SHORTEST_TOKEN = 16

const kept = new Set<string>()
const recent = new Set<string>()
/** The spellings of both by how they begin, each with its secret. */
const known = new Map<string, Map<string, string>>()
const beginning = (text: string, at = 0) => text.slice(at, at + SHORTEST)

/** A key or password: it, its Base64 and its hex are never shown again by this process. */
export function registerSecret(value: Buffer | string): void {
  const bytes = Buffer.from(value)
  // A PEM key is known by its lines; those that frame it are the same in every key.
  const lines = bytes.toString('utf8').split(/\r?\n/)
  const encoded = [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')]
  const whole = [...encoded, bytes.toString('hex'), bytes.toString('latin1')]
  for (const one of [...lines.filter((line) => !line.startsWith('-----')), ...whole]) keep(one)
}

/** An address that is a credential, as webhooks have them; its host is none. */
export function registerSecretAddress(address: string): void {
  const { pathname, search } = new URL(address)
  keep(pathname + search)
  for (const part of `${pathname}${search}`.split(/[/?&=]/))
    if (part.length >= SHORTEST_TOKEN) keep(part)
}

function keep(value: string): void {
  if (kept.has(value)) return
  kept.add(value)
  know(value)
}

/** A signature or another value that is made anew with each request: it is forgotten after many others. */
export function registerTemporarySecret(value: string): void {
  if (value.length < LONG || value.length > LONGEST_RECENT) return
  if (!recent.delete(value)) know(value)
  recent.add(value)
  for (const oldest of recent) {
    if (recent.size <= MOST_RECENT) break
    recent.delete(oldest)
    if (!kept.has(oldest)) forget(oldest)
  }
}

function know(value: string): void {
  for (const spelling of spellingsOf(value)) {
    const begin = beginning(spelling)
    const others = known.get(begin) ?? new Map<string, string>()
    if (!others.has(spelling)) known.set(begin, others.set(spelling, value))
  }
}

function forget(value: string): void {
  for (const spelling of spellingsOf(value)) {
    const others = known.get(beginning(spelling))
    if (others?.get(spelling) === value) others.delete(spelling)
    if (others?.size === 0) known.delete(beginning(spelling))
  }
}

/** The text with `[secret]` for each known secret, as it is or as JSON, XML and URLs escape it. */
export function redact(text: string): string {
  return hide(text, SHORTEST)
}

/** As `redact`, for values that are compared and not only shown, such as names: short secrets occur there by chance. */
export function redactValue(text: string): string {
  return hide(text, LONG)
}

function hide(text: string, shortest: number): string {
  let shown = ''
  let rest = 0
  for (let at = 0; at + shortest <= text.length; at++) {
    const found = known.get(beginning(text, at))
    if (found === undefined) continue
    let longest = 0
    for (const spelling of found.keys()) {
      if (spelling.length < shortest || spelling.length <= longest) continue
      // 75 times as fast as startsWith() where a hostile form has many values that begin alike.
      if (text.slice(at, at + spelling.length) === spelling) longest = spelling.length
    }
    if (longest === 0) continue
    shown += text.slice(rest, at) + SHOWN
    rest = at + longest
    at = rest - 1
  }
  return shown + text.slice(rest)
}

const XML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const QUOTES: Record<string, string> = { '"': '&quot;', "'": '&apos;' }

function spellingsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const url = encodeURIComponent(value.toWellFormed())
  const path = encodeURI(value.toWellFormed())
  const xml = value.replace(/[&<>]/g, (c) => XML[c] ?? c)
  const spellings = new Set([
    value,
    // As in a host.
    value.toLowerCase(),
    json,
    json.replaceAll('/', '\\/'),
    url,
    url.replace(/%../g, (one) => one.toLowerCase()),
    path,
    path.replace(/[/?#]/g, encodeURIComponent),
    xml,
    xml.replace(/["']/g, (c) => QUOTES[c] ?? c),
    xml.replace(/["']/g, (c) => `&#${c.charCodeAt(0)};`),
  ])
  return [...spellings]
}

/** A name that another program gave something: shown where it consists of letters and is no secret, otherwise null. */
export function shownName(name: string): string | null {
  return /^[A-Za-z]{1,64}$/.test(name) && redact(name) === name ? name : null
}

const LONGEST_MESSAGE = 300
/** Of a message, in characters: known secrets are looked for before it is cut. */
const MOST_READ = 4 * 1024
/** Base64 or hex, also in an address; each escaped character counts as one. */
const TOKEN = /(?:[\w+/=-]|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\\S|&#?\w{1,8};){20,}/gi

/**
 * What may be shown of a message that another program wrote for people: one line of at most 300 characters. Known
 * secrets are replaced, and what looks like a token is cut, such as the hex of a secret or one that nobody knows here.
 */
export function shownMessage(text: string): string {
  // Characters that nobody sees could hide a secret.
  const seen = text.slice(0, MOST_READ).replace(/(?!\s)[\p{Cc}\p{Cf}]/gu, '')
  const shown = redact(seen)
    .replace(TOKEN, (run) => (/\d/.test(run) ? '[cut]' : run))
    .replace(/\s+/g, ' ')
    .trim()
  return shown.length > LONGEST_MESSAGE ? `${shown.slice(0, LONGEST_MESSAGE - 1)}…` : shown
}
