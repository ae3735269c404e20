// Decides from the first bytes of a file how to read it: other formats, byte order mark, family of encodings (XML 1.0
// appendix F), XML declaration, and whether all of them agree.

import { type Fault, short } from '../fault.ts'
import { LONGEST_DECLARATION, readDeclaration } from '../prolog.ts'
import { Decoder } from './decoder.ts'
import { type Encoding, encodingNamed, UNKNOWN, UTF_8, UTF_16BE, UTF_16LE } from './encodings.ts'

interface DocumentStart {
  /** encoding decodes the file, or the part before the fault. */
  encoding: Encoding
  /** bom is the length of the byte order mark in bytes. */
  bom: number
  /**
   * declaration is the length of the XML declaration in characters, or 0 without one; null if there is a fault, or if
   * the file ends before or inside the declaration.
   */
  declaration: number | null
  warnings: string[]
  fault: Fault | null
}

const compressed = (name: string) => `the file is ${name}-compressed; export it uncompressed`
const unsupported = (name: string) =>
  `the file is encoded in ${name}, which is not supported; export it as UTF-8`

/** FOREIGN has the first bytes, as Latin 1, of formats that are not XML and of encodings that are not supported. */
const FOREIGN: readonly (readonly [begins: string, code: string, reason: string])[] = [
  ['\x1f\x8b', 'gzip', 'the file is gzip-compressed; give it a name that ends in .xml.gz'],
  ['BZh', 'bzip2', compressed('bzip2')],
  ['\xfd7zXZ', 'xz', compressed('xz')],
  ['(\xb5/\xfd', 'zstd', compressed('zstd')],
  ['PK\x03\x04', 'zip', 'the file is a zip archive; export the XML itself, uncompressed'],
  ['7z\xbc\xaf', '7z', 'the file is a 7z archive; export the XML itself, uncompressed'],
  ['%PDF', 'pdf', 'the file is a PDF document, not an XML feed'],
  ['\0\0\xfe\xff', 'unsupported-encoding', unsupported('UTF-32')],
  ['\xff\xfe\0\0', 'unsupported-encoding', unsupported('UTF-32')],
  ['\0\0\0<', 'unsupported-encoding', unsupported('UTF-32')],
  ['<\0\0\0', 'unsupported-encoding', unsupported('UTF-32')],
  ['Lo\xa7\x94', 'unsupported-encoding', unsupported('EBCDIC')],
]
/** FAMILIES says how to decode the XML declaration after each beginning. UNKNOWN stands for encodings with ASCII. */
const FAMILIES: readonly (readonly [begins: string, encoding: Encoding, bom: number])[] = [
  ['\xef\xbb\xbf', UNKNOWN, 3],
  ['\xfe\xff', UTF_16BE, 2],
  ['\xff\xfe', UTF_16LE, 2],
  ['\0<', UTF_16BE, 0],
  ['<\0', UTF_16LE, 0],
]
/** A file with only half of its first UTF-16 unit ends early; it is not undecodable. */
const HALF_UNITS = ['\0', '\xfe', '\xff']
/** SIGNATURE_BYTES is the length of the longest beginning in FOREIGN. */
const SIGNATURE_BYTES = 5

/**
 * documentStart reads `head`, the first bytes of a file. `whole` says that the file has no more bytes. `given` replaces
 * the declared encoding. It returns null if it needs more bytes.
 */
export function documentStart(
  head: Buffer,
  whole: boolean,
  given: Encoding | 'utf-16' | null = null,
): DocumentStart | null {
  if (head.length < SIGNATURE_BYTES && !whole) return null
  const signature = head.toString('latin1', 0, SIGNATURE_BYTES)
  const { family, bom } = familyOf(signature)
  const start = (declaration: number | null, encoding = family) => {
    return { encoding, bom, declaration, warnings: [], fault: null }
  }
  const failed = (code: string, reason: string, at: number) => {
    return { ...start(null), fault: { code, reason, at } }
  }
  const foreign = FOREIGN.find(([begins]) => signature.startsWith(begins))
  if (foreign !== undefined) {
    return { ...failed(foreign[1], foreign[2], 0), encoding: UNKNOWN, bom: 0 }
  }
  const beginning = head.subarray(bom, bom + LONGEST_DECLARATION * 4)
  const declaration = readDeclaration(new Decoder(family).write(beginning).text)
  if (declaration === null) return whole ? start(null) : null
  if ('code' in declaration) return { ...start(null), fault: declaration }
  if (given !== null) {
    const encoding = matching(family, bom, given)
    if (encoding === null) return failed('encoding-mismatch', givenMismatch(given, family, bom), 0)
    const warnings = [...warningsOf(encoding, bom), ...overruled(declaration.encoding, encoding)]
    return { ...start(declaration.length, encoding), warnings }
  }
  let encoding: Encoding | null = family === UNKNOWN ? UTF_8 : family
  if (declaration.encoding !== null) {
    const { name, at } = declaration.encoding
    const declared = encodingNamed(name)
    if (declared === null) {
      const reason = `the declared encoding "${short(name)}" is not supported; export the feed as UTF-8`
      return failed('unsupported-encoding', reason, at)
    }
    encoding = matching(family, bom, declared)
    if (encoding === null)
      return failed('encoding-mismatch', declaredMismatch(name, family, bom), at)
  } else if (encoding.kind === 'utf-16' && bom === 0) {
    // XML 1.0 §4.3.3: UTF-16 needs a byte order mark or an encoding declaration.
    const reason = `the file is ${encoding.name} without a byte order mark, and declares no encoding; export it as UTF-8`
    return failed('encoding-mismatch', reason, 0)
  }
  return { ...start(declaration.length, encoding), warnings: warningsOf(encoding, bom) }
}

/** familyOf returns the family of encodings to which the first bytes belong, and the length of the byte order mark. */
function familyOf(signature: string): { family: Encoding; bom: number } {
  const half = HALF_UNITS.indexOf(signature)
  if (half !== -1) return { family: UTF_16BE, bom: Math.min(half, 1) }
  const known = FAMILIES.find(([begins]) => signature.startsWith(begins))
  if (known === undefined) return { family: UNKNOWN, bom: 0 }
  const [, family, bom] = known
  return { family, bom }
}

/** matching returns the encoding for reading, or null if the declared encoding contradicts the bytes. */
function matching(family: Encoding, bom: number, declared: Encoding | 'utf-16'): Encoding | null {
  if (family.kind === 'utf-16') {
    return declared === 'utf-16' || declared === family ? family : null
  }
  if (declared === 'utf-16' || declared.kind === 'utf-16') return null
  return bom > 0 && declared !== UTF_8 ? null : declared
}

function declaredMismatch(declared: string, family: Encoding, bom: number): string {
  return `the document declares the encoding "${short(declared)}", but ${beginningOf(family, bom)}; declare the encoding that the file really has`
}

function givenMismatch(given: Encoding | 'utf-16', family: Encoding, bom: number): string {
  const name = given === 'utf-16' ? 'UTF-16' : given.name
  return `the configuration names the encoding ${name}, but the file ${beginningOf(family, bom)}; correct encoding in the rule of this feed`
}

/** overruled warns that the given encoding replaces a different declared encoding. */
function overruled(declared: { name: string } | null, { name }: Encoding): string[] {
  const expected = encodingNamed(declared?.name ?? UTF_8.name)
  if (expected !== null && expected !== 'utf-16' && expected.name === name) return []
  const declaration =
    declared === null ? 'declares no encoding' : `declares the encoding "${short(declared.name)}"`
  return [`the file ${declaration} and is read as ${name}, as the configuration says`]
}

function beginningOf(family: Encoding, bom: number): string {
  const known = family === UNKNOWN ? 'UTF-8' : family.name
  return bom > 0
    ? `begins with the byte order mark of ${known}`
    : `does not use it (it looks like ${family === UNKNOWN ? 'UTF-8 or another 8-bit encoding' : known})`
}

function warningsOf({ kind, name }: Encoding, bom: number): string[] {
  if (kind !== 'utf-8') {
    return [`the file is encoded in ${name}; only UTF-8 works with every reader`]
  }
  return bom > 0 ? ['the file begins with a byte order mark, which some readers do not accept'] : []
}
