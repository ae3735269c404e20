// Decides from the first bytes of a file how to read it: foreign formats, byte order mark, family of
// encodings (XML 1.0 appendix F), XML declaration, and whether these agree with each other.

import { type Fault, short } from '../fault.ts'
import { createDecoder } from './decoder.ts'
import { type Encoding, encodingNamed, UNKNOWN, UTF_8, UTF_16BE, UTF_16LE } from './encodings.ts'
import { foreignFormat, SIGNATURE_BYTES } from './foreign-formats.ts'
import { LONGEST_DECLARATION, readDeclaration } from './xml-declaration.ts'

export type DocumentStart =
  /** Too little was seen to decide. */
  | { kind: 'more' }
  /** The file ends inside the XML declaration, or before it could begin. */
  | { kind: 'cut'; encoding: Encoding; bom: number }
  | {
      kind: 'start'
      encoding: Encoding
      /** Bytes of the byte order mark. */
      bom: number
      /** Characters of the XML declaration, 0 without one. */
      declaration: number
      warnings: string[]
    }
  /** `encoding` decodes the file up to the fault. */
  | { kind: 'fault'; fault: Fault; encoding: Encoding; bom: number }

interface Family {
  /** What decodes the declaration; `UNKNOWN` stands for everything that contains ASCII. */
  encoding: Encoding
  bom: number
}

/** `head`: the file from its first byte; `whole`: there are no more bytes than these. */
export function documentStart(head: Buffer, whole: boolean): DocumentStart {
  if (head.length < SIGNATURE_BYTES && !whole) return { kind: 'more' }
  const foreign = foreignFormat(head)
  if (foreign !== null)
    return failed({ encoding: UNKNOWN, bom: 0 }, foreign.code, foreign.reason, 0)
  const family = familyOf(head)
  if (typeof family === 'string') {
    const reason = `the file is encoded in ${family}, which is not supported; export it as UTF-8`
    return failed({ encoding: UNKNOWN, bom: 0 }, 'unsupported-encoding', reason, 0)
  }
  const beginning = head.subarray(family.bom, family.bom + LONGEST_DECLARATION * 4)
  const { text } = createDecoder(family.encoding).write(beginning)
  const declaration = readDeclaration(text)
  if (declaration.kind === 'fault') return { kind: 'fault', fault: declaration.fault, ...family }
  if (declaration.kind === 'more') return whole ? { kind: 'cut', ...family } : { kind: 'more' }
  if (declaration.kind !== 'declaration' || declaration.encoding === null) {
    // XML 1.0 section 4.3.3: a fatal error with neither a byte order mark nor an encoding declaration.
    if (family.encoding.kind === 'utf-16' && family.bom === 0) {
      const reason = `the file is ${family.encoding.name} without a byte order mark, and declares no encoding; export it as UTF-8`
      return failed(family, 'encoding-mismatch', reason, 0)
    }
    return started(
      family,
      family.encoding === UNKNOWN ? UTF_8 : family.encoding,
      lengthOf(declaration),
    )
  }
  const { name, at } = declaration.encoding
  const declared = encodingNamed(name)
  if (declared === null) {
    const reason = `the declared encoding "${short(name)}" is not supported; export the feed as UTF-8`
    return failed(family, 'unsupported-encoding', reason, at)
  }
  const encoding = agreed(family, declared)
  if (encoding !== null) return started(family, encoding, declaration.length)
  const actual = family.encoding === UNKNOWN ? describe(family) : family.encoding.name
  const reason = `the document declares the encoding "${short(name)}", but ${
    family.bom > 0
      ? `begins with the byte order mark of ${actual}`
      : `is not written in it (it looks like ${actual})`
  }; declare the encoding that the file really has`
  return failed(family, 'encoding-mismatch', reason, at)
}

function familyOf(head: Buffer): Family | 'UTF-32' | 'EBCDIC' {
  const begins = (...bytes: number[]) =>
    head.length >= bytes.length && bytes.every((byte, i) => head[i] === byte)
  if (begins(0, 0, 0xfe, 0xff) || begins(0xff, 0xfe, 0, 0)) return 'UTF-32'
  if (begins(0, 0, 0, 0x3c) || begins(0x3c, 0, 0, 0)) return 'UTF-32'
  if (begins(0x4c, 0x6f, 0xa7, 0x94)) return 'EBCDIC'
  if (begins(0xef, 0xbb, 0xbf)) return { encoding: UNKNOWN, bom: 3 }
  if (begins(0xfe, 0xff)) return { encoding: UTF_16BE, bom: 2 }
  if (begins(0xff, 0xfe)) return { encoding: UTF_16LE, bom: 2 }
  if (begins(0, 0x3c)) return { encoding: UTF_16BE, bom: 0 }
  if (begins(0x3c, 0)) return { encoding: UTF_16LE, bom: 0 }
  // Half of the first UTF-16 unit and nothing else: the file ends early, it is not undecodable.
  if (head.length === 1 && begins(0)) return { encoding: UTF_16BE, bom: 0 }
  if (head.length === 1 && (begins(0xfe) || begins(0xff))) return { encoding: UTF_16BE, bom: 1 }
  return { encoding: UNKNOWN, bom: 0 }
}

/** The encoding to read with, or null when the declaration contradicts the bytes. */
function agreed(family: Family, declared: Encoding | 'utf-16'): Encoding | null {
  const { encoding } = family
  if (encoding.kind === 'utf-16') {
    return declared === 'utf-16' || declared === encoding ? encoding : null
  }
  if (declared === 'utf-16' || declared.kind === 'utf-16') return null
  return family.bom > 0 && declared !== UTF_8 ? null : declared
}

function describe(family: Family): string {
  return family.bom > 0 ? 'UTF-8' : 'UTF-8 or another 8-bit encoding'
}

function lengthOf(declaration: { kind: string; length?: number }): number {
  return declaration.length ?? 0
}

function started(family: Family, encoding: Encoding, declaration: number): DocumentStart {
  const warnings: string[] = []
  if (family.bom > 0 && encoding.kind === 'utf-8') {
    warnings.push('the file begins with a byte order mark, which some readers do not accept')
  }
  if (encoding.kind !== 'utf-8') {
    warnings.push(`the file is encoded in ${encoding.name}; UTF-8 is what every reader expects`)
  }
  return { kind: 'start', encoding, bom: family.bom, declaration, warnings }
}

function failed(family: Family, code: string, reason: string, at: number): DocumentStart {
  return { kind: 'fault', fault: { code, reason, at }, ...family }
}
