// The encodings that a document may have, and their names. Single-byte encodings are tables, built from the platform's
// decoder without its rules for web pages: the WHATWG standard reads ISO-8859-1 and US-ASCII as windows-1252, and the
// undefined bytes of windows-125x as control characters.

export type Encoding =
  | { name: 'UTF-8'; kind: 'utf-8' }
  | { name: 'UTF-16LE' | 'UTF-16BE'; kind: 'utf-16' }
  /** `table[byte]` is the UTF-16 unit of a byte, or `UNDECODABLE`. */
  | { name: string; kind: 'single-byte'; table: Uint16Array }

/** UNDECODABLE is a noncharacter, so no byte maps to it. */
export const UNDECODABLE = 0xffff

export const UTF_8: Encoding = { name: 'UTF-8', kind: 'utf-8' }
export const UTF_16LE: Encoding = { name: 'UTF-16LE', kind: 'utf-16' }
export const UTF_16BE: Encoding = { name: 'UTF-16BE', kind: 'utf-16' }
const LATIN_1 = singleByte('ISO-8859-1', (byte) => byte)
/** UNKNOWN decodes the start of a file whose encoding contains ASCII. */
export const UNKNOWN: Encoding = singleByte('unknown', (byte) => byte)

/** LATIN has the parts of ISO-8859 with another number as a latin alphabet. latin1 to latin4 are the parts 1 to 4. */
const LATIN: Record<string, string> = { 5: '9', 6: '10', 9: '15' }

/** encodingNamed returns `utf-16` if the byte order mark must decide, and null for an unsupported name. */
export function encodingNamed(declared: string): Encoding | 'utf-16' | null {
  const name = declared.toLowerCase()
  if (/^utf-?8$/.test(name)) return UTF_8
  if (/^utf-?16$/.test(name)) return 'utf-16'
  if (/^utf-?16le$/.test(name)) return UTF_16LE
  if (/^utf-?16be$/.test(name)) return UTF_16BE
  if (/^(us-)?ascii$|^ansi_x3\.4-1968$|^iso646-us$/.test(name)) {
    return singleByte('US-ASCII', (byte) => (byte < 0x80 ? byte : UNDECODABLE))
  }
  const latin = /^(?:latin-?(?=[1-69]$)|l-?(?=[1-6]$))(.)/.exec(name)?.[1]
  const iso = /^iso[-_]?8859[-_]([0-9]{1,2})$/.exec(name)?.[1]
  const part = Number(iso ?? (latin === undefined ? 0 : (LATIN[latin] ?? latin)))
  if (part >= 1 && part <= 16 && part !== 12) return iso8859(part)
  const page = /^(?:windows-|x-)?(?:cp-?)?(125[0-8])$/.exec(name)?.[1]
  // A number alone, such as "1252", is not a name.
  return page === undefined || page === name ? null : windows(page)
}

function iso8859(part: number): Encoding {
  if (part === 1) return LATIN_1
  // The platform has parts 9 and 11 only as the windows pages that contain them.
  const label = part === 9 ? 'windows-1254' : part === 11 ? 'windows-874' : `iso-8859-${part}`
  const decode = byteDecoder(label)
  return singleByte(`ISO-8859-${part}`, (byte) => (byte < 0xa0 ? byte : decode(byte)))
}

function windows(page: string): Encoding {
  const decode = byteDecoder(`windows-${page}`)
  return singleByte(`windows-${page}`, (byte) => {
    const unit = decode(byte)
    // The platform reads undefined bytes as these control characters.
    return unit >= 0x80 && unit < 0xa0 ? UNDECODABLE : unit
  })
}

function byteDecoder(label: string): (byte: number) => number {
  const decoder = new TextDecoder(label, { fatal: true })
  return (byte) => {
    try {
      return decoder.decode(Uint8Array.of(byte)).charCodeAt(0)
    } catch {
      return UNDECODABLE
    }
  }
}

function singleByte(name: string, unit: (byte: number) => number): Encoding {
  return { name, kind: 'single-byte', table: Uint16Array.from({ length: 256 }, (_, i) => unit(i)) }
}
