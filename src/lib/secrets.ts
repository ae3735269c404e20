// Owns the secrets that this process knows and must never show, and limits how much of another program's text may be
// shown. A secret is secret in the whole process, so this module keeps all of them in one place.

import { inspect } from 'node:util'

/** Secret is a value that cannot print itself: templates, JSON, console and logs show `[secret]`. */
export class Secret {
  readonly #value: Buffer

  constructor(value: Buffer | string) {
    this.#value = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf8')
  }

  /** reveal returns the value for immediate use; never store the result. */
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
/** A shorter text occurs by chance. */
const SHORTEST = 4
/** A text of this length does not occur by chance, not even in a name that somebody chose. */
const LONG = 12
/** Number of signatures and form fields that are kept, enough for about 25 uploads. */
const MOST_TEMPORARY = 150
/** A service could repeat a secret in the name or the address of an object; neither can hold a longer value. */
const LONGEST_TEMPORARY = 2 * 1024
/** A token in an address is at least this long; the words around it are shorter. */
const SHORTEST_TOKEN = 16

const permanent = new Set<string>()
const temporary = new Set<string>()
/** All spellings of all secrets, grouped by their first characters; each with its secret. */
const known = new Map<string, Map<string, string>>()
const beginning = (text: string, at = 0) => text.slice(at, at + SHORTEST)

/** registerSecret hides a key or password, its Base64 and its hex until the process ends. */
export function registerSecret(value: Buffer | string): void {
  const bytes = Buffer.from(value)
  // Register each line of a PEM key, but not its BEGIN and END lines, which every key has.
  const lines = bytes.toString('utf8').split(/\r?\n/)
  const encoded = [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')]
  const whole = [...encoded, bytes.toString('hex'), bytes.toString('latin1')]
  for (const one of [...lines.filter((line) => !line.startsWith('-----')), ...whole]) keep(one)
}

/** registerSecretAddress hides an address that is a credential, such as a webhook's. Its host stays visible. */
export function registerSecretAddress(address: string): void {
  const { pathname, search } = new URL(address)
  keep(pathname + search)
  for (const part of `${pathname}${search}`.split(/[/?&=]/))
    if (part.length >= SHORTEST_TOKEN) keep(part)
}

function keep(value: string): void {
  if (permanent.has(value)) return
  permanent.add(value)
  know(value)
}

/**
 * registerTemporarySecret hides a value of one request, such as a signature, until `MOST_TEMPORARY` others came. It
 * ignores a value that is shorter than `LONG` or longer than `LONGEST_TEMPORARY`.
 */
export function registerTemporarySecret(value: string): void {
  if (value.length < LONG || value.length > LONGEST_TEMPORARY) return
  if (!temporary.delete(value)) know(value)
  temporary.add(value)
  for (const oldest of temporary) {
    if (temporary.size <= MOST_TEMPORARY) break
    temporary.delete(oldest)
    if (!permanent.has(oldest)) forget(oldest)
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

/** redact writes `[secret]` for each known secret in the text, also for one that JSON, XML or a URL escaped. */
export function redact(text: string): string {
  return hide(text, SHORTEST)
}

/** redactValue redacts a value that is compared, such as a name, except short secrets, which occur by chance. */
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
      // slice() is 75 times as fast as startsWith() if a hostile form has many values that begin alike.
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
  const xml = value.replace(/[&<>]/g, (char) => XML[char] ?? char)
  const spellings = new Set([
    value,
    // Hosts are written in small letters.
    value.toLowerCase(),
    json,
    json.replaceAll('/', '\\/'),
    url,
    url.replace(/%../g, (one) => one.toLowerCase()),
    path,
    path.replace(/[/?#]/g, encodeURIComponent),
    xml,
    xml.replace(/["']/g, (char) => QUOTES[char] ?? char),
    xml.replace(/["']/g, (char) => `&#${char.charCodeAt(0)};`),
  ])
  return [...spellings]
}

/** shownName returns another program's name for something; null if it has more than letters or is a secret. */
export function shownName(name: string): string | null {
  return /^[A-Za-z]{1,64}$/.test(name) && redact(name) === name ? name : null
}

const LONGEST_MESSAGE = 300
/** Characters of a message that are searched for secrets; the message is cut to its shown length after that. */
const MOST_READ = 4 * 1024
/** Base64 or hex of at least 20 characters, also inside an address; each escaped character counts as one. */
const TOKEN = /(?:[\w+/=-]|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\\S|&#?\w{1,8};){20,}/gi

/**
 * shownMessage returns the safe part of another program's message for people: one line of at most 300 characters. It
 * replaces known secrets and cuts everything that looks like a token, such as a secret that this process does not know.
 */
export function shownMessage(text: string): string {
  // Invisible characters inside a secret would hide it from the search.
  const seen = text.slice(0, MOST_READ).replace(/(?!\s)[\p{Cc}\p{Cf}]/gu, '')
  const shown = redact(seen)
    .replace(TOKEN, (run) => (/\d/.test(run) ? '[cut]' : run))
    .replace(/\s+/g, ' ')
    .trim()
  return shown.length > LONGEST_MESSAGE ? `${shown.slice(0, LONGEST_MESSAGE - 1)}…` : shown
}
