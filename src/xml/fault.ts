// The first fault of a document, as a place in bytes; locator.ts finds its line and column later.

export interface Fault {
  code: string
  /** reason is a sentence without the position. `{line}` stands for the line of `reference`. */
  reason: string
  /** at counts the bytes before the fault, in UTF-8 and without the byte order mark. */
  at: number
  /** reference is a second place that the reason mentions, counted in the same way. */
  reference?: number
}

/** TokenEnd is where a token ends in a text, or the fault of the token, or null if more text is needed. */
export type TokenEnd = number | Fault | null

export type Ending =
  | { kind: 'complete' }
  /** The document has no fault, but is cut. */
  | { kind: 'incomplete'; reason: string; at: number; reference?: number }
  | { kind: 'fault'; fault: Fault }

/**
 * undecodable returns the fault of bytes that do not fit the encoding. `byte` is the first of these bytes, or 0 if it
 * is not known. The reason shows the byte as windows-1252, because often this is the real encoding.
 */
export function undecodable(encoding: string, at: number, byte = 0): Fault {
  const character = new TextDecoder('windows-1252').decode(Uint8Array.of(byte))
  const guess = /\p{Cc}/u.test(character) ? '' : ` (in windows-1252 this is ${shown(character)})`
  const reason = `the bytes here are not ${encoding}${guess}; declare the encoding that the file has, or export it as UTF-8`
  return { code: 'undecodable', reason, at }
}

export const notWellFormed = (reason: string, at: number): Fault => ({
  code: 'not-well-formed',
  reason,
  at,
})

export function notAllowed(character: string): string {
  return `the character ${shown(character)} is not allowed in XML; leave it out`
}

/** FaultFound carries the first fault out of the readers' loops. Reading ends there. */
export class FaultFound extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

/** stop throws `FaultFound`. */
export function stop(fault: Fault): never {
  throw new FaultFound(fault)
}

/** wrong throws `FaultFound`, because the document is not well-formed at `at`. */
export function wrong(reason: string, at: number): never {
  throw new FaultFound(notWellFormed(reason, at))
}

/** shown returns a character in quotes or, if it is invisible, as its code point. */
export function shown(character: string): string {
  if (character === ' ') return 'a space'
  if (/^[\p{L}\p{N}\p{P}\p{S}]/u.test(character)) return `"${character}"`
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** short cuts a name or value of the document to a length that fits into a message. */
export function short(value: string, most = 60): string {
  return value.length <= most ? value : `${value.slice(0, most).toWellFormed()}…`
}
