// The first thing that is wrong with a document, before anybody knows its line and column.

export interface Fault {
  /** Stable and short, as in `Verdict`. */
  code: string
  /** Plain sentence without the position. `{line}` stands for the line of `reference`. */
  reason: string
  /** Bytes before the culprit, in UTF-8 and without the byte order mark. */
  at: number
  /** Another place that the reason speaks of, counted the same way. */
  reference?: number
}

/**
 * What a look at the text that a token begins found, in places of that text: where the token ends, or as much of it as
 * can be told; null: more must be there to tell.
 */
export type Look = number | Fault | null

/** How a document ended. */
export type Ending =
  | { kind: 'complete' }
  /** Nothing is wrong up to the end, but the document is not over. */
  | { kind: 'incomplete'; reason: string; at: number }
  | { kind: 'fault'; fault: Fault }

/** `byte`: the first that does not fit, where it is known. Most often it is a character of windows-1252. */
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

/** Carries the first fault out of the readers' loops: after it nothing is read any more. */
export class FaultFound extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

/** Throws `FaultFound`. */
export function stop(fault: Fault): never {
  throw new FaultFound(fault)
}

/** Throws `FaultFound`: the document is not well-formed at `at`. */
export function wrong(reason: string, at: number): never {
  throw new FaultFound(notWellFormed(reason, at))
}

/** A character as a person can recognise it: quoted, or by its code point when it cannot be seen. */
export function shown(character: string): string {
  if (character === ' ') return 'a space'
  if (/^[\p{L}\p{N}\p{P}\p{S}]/u.test(character)) return `"${character}"`
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** Names and values come from the file: what goes into a sentence is cut to a length that fits a line. */
export function short(value: string, most = 60): string {
  return value.length <= most ? value : `${value.slice(0, most).toWellFormed()}…`
}
