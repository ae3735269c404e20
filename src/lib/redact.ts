// Owns what is never shown, whoever repeats it: the secrets that this process knows, and their removal from
// text of another host, however that host escaped them. What is secret is so in the whole process, so the
// values are kept here and not with those who use them.

import { fold, LONG, SecretSet } from './secret-set.ts'
import { unescaped } from './unescape.ts'

/** More levels of escapes were made on purpose: nothing of such a text is shown. */
const MOST_LEVELS = 8
/** Values of forms, and signatures: those of about 25 uploads. */
const MOST_RECENT = 150
/** The same in characters: a search first finds the place of each, which large forms would make slow. */
const MOST_RECENT_CHARACTERS = 64 * 1024
/** A token in an address is longer than the words beside it. */
const SHORTEST_TOKEN = 16
/** Stands for a secret while the text is searched further. */
const MARK = '\ue000'
const SHOWN = '[secret]'
/** What stands in one word with a secret may be more of it, behind an escape that is not undone yet. */
const WORD_WITH_MARK = /[^\s"'<>,{}()]*\ue000[^\s"'<>,{}()]*/g

const permanent = new SecretSet()
const recent = new SecretSet(MOST_RECENT, MOST_RECENT_CHARACTERS)

/** A key or password: it, its Base64 and its hex are never shown again by this process. */
export function keepSecret(value: Buffer | string): void {
  const bytes = Buffer.from(value)
  // What frames a PEM key is the same in all of them.
  const text = bytes.toString('utf8').replace(/-----[A-Z ]+-----/g, '')
  for (const form of [
    text,
    ...(['latin1', 'base64', 'hex'] as const).map((as) => bytes.toString(as)),
  ])
    permanent.add(form)
}

/** An address that is a credential, as webhooks have them; its host is none. */
export function keepAddress(address: string): void {
  const { pathname, search } = new URL(address)
  permanent.add(pathname + search, false)
  for (const part of `${pathname}${search}`.split(/[/?&=]/))
    if (part.length >= SHORTEST_TOKEN) permanent.add(part)
}

/** A signature or another value that is made anew with each request: it is forgotten after many others. */
export function rememberSecret(value: string): void {
  recent.add(value)
}

/** Anybody may see these fields of a form: they name the object, or say what is expected of it, and how it is kept. */
const PUBLIC_FIELD =
  /^(key|bucket|success_action_status|acl|cache-control|content-(type|disposition|encoding)|expires|.*-(algorithm|date|storage-class))$/i
/** An address, and the browser's own: of it as of the form's address. */
const ADDRESS_FIELD = /^(success_action_)?redirect$/i
/** An access key's name with a date, a region and a service, which are no secrets. */
const CREDENTIAL_FIELD = /credential$/i

/** All that is secret of a pre-signed form. Remembered, and answered for those who use the form for long. */
export function rememberForm(
  fields: ReadonlyArray<readonly [name: string, value: string]>,
  addresses: readonly string[],
): SecretSet {
  const own = new SecretSet()
  const add = (value: string, partly: boolean) => {
    own.add(value, partly)
    recent.add(value, partly)
  }
  for (const [name, value] of fields) {
    if (PUBLIC_FIELD.test(name) || ADDRESS_FIELD.test(name)) continue
    const isCredential = CREDENTIAL_FIELD.test(name)
    add(value, !isCredential)
    if (isCredential) add(value.replace(/\/.*/s, ''), true)
  }
  const others = fields.filter(([name]) => ADDRESS_FIELD.test(name))
  for (const address of [...addresses, ...others.map(([, value]) => value)]) {
    const url = URL.parse(address)
    if (url === null) continue
    for (const value of url.searchParams.values()) add(value, true)
    for (const value of [url.password, url.hash.slice(1)]) add(value, true)
  }
  return own
}

/**
 * The text itself where no known secret is in it. Otherwise secrets are `[secret]`, and the escapes of JSON,
 * XML, HTML and URLs that hid one are undone. `own`: those of a form that is still in use.
 */
export function redact(text: string, own?: SecretSet): string {
  return search(text, own).redacted
}

/** As `redact`, for a host or a path: the other parts stay where a secret is in one part alone. */
export function redactParts(text: string, separator: string, own?: SecretSet): string {
  if (!holdsSecret(text, own)) return text
  const parts = text.split(separator)
  const redacted = parts.map((part) => redact(part, own))
  const isInOne = redacted.filter((part, i) => part !== parts[i]).length === 1
  const joined = redacted.join(separator)
  return isInOne && !holdsSecret(joined, own) ? joined : SHOWN
}

/** For values that are compared and not only shown, such as names: long secrets alone, and only whole ones. */
export function redactWhole(text: string): string {
  if (text.length < LONG) return text
  return search(text, undefined, true).redacted
}

/** As `redact`, and with every escape undone. */
export function plainText(text: string, own?: SecretSet): string {
  return search(text, own).plain
}

export function holdsSecret(text: string, own?: SecretSet): boolean {
  return redact(text, own) !== text
}

/** Looks at the text as it is, then with one level of escapes after the other undone. */
function search(text: string, own?: SecretSet, onlyWhole = false) {
  const sets = own === undefined ? [permanent, recent] : [permanent, recent, own]
  let redacted = text
  let level = text
  for (let n = 0; n <= MOST_LEVELS; n++) {
    const masked = mask(level, sets, onlyWhole)
    if (masked !== level) redacted = masked
    level = unescaped(masked)
    if (level === masked) return { redacted: shown(redacted), plain: shown(level) }
  }
  return { redacted: SHOWN, plain: SHOWN }
}

const shown = (text: string) => text.replace(/\ue000+/g, SHOWN)

function mask(text: string, sets: readonly SecretSet[], onlyWhole: boolean): string {
  let hidden: Uint8Array | null = null
  const folded = fold(text)
  for (const set of sets)
    set.find(text, folded, onlyWhole, (from, to) => {
      hidden ??= new Uint8Array(text.length)
      hidden.fill(1, from, to)
    })
  if (hidden === null) return text
  const marked = Array.from(hidden, (is, i) => (is === 1 ? MARK : text[i])).join('')
  return marked.replace(WORD_WITH_MARK, MARK)
}
