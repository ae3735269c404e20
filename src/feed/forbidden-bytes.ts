// Finds the first byte that no XML document may have: ill-formed UTF-8, and what the production Char
// (XML 1.0 §2.2) leaves out.

import { isUtf8 } from 'node:buffer'
import { wellFormedLength } from './decoder.ts'
import type { Skimmer } from './skimmer.ts'

export type Forbidden =
  /** A character that is written right, `length` bytes long, but not allowed. */
  { kind: 'character'; at: number; length: number } | { kind: 'undecodable'; at: number }

const NONCHARACTER_BYTES = 3

/** Looks at the whole characters of `data`, which is the skimmer's, from `from` to `to`. */
export function firstForbidden(
  data: Buffer,
  skimmer: Skimmer,
  from: number,
  to: number,
): Forbidden | null {
  const bytes = data.subarray(from, to)
  const sound = isUtf8(bytes) ? to : from + wellFormedLength(bytes)
  const at = skimmer.firstForbidden(from, sound)
  if (at < sound)
    return { kind: 'character', at, length: isControl(data[at]) ? 1 : NONCHARACTER_BYTES }
  return sound < to ? { kind: 'undecodable', at: sound } : null
}

const isControl = (byte: number | undefined) => byte !== undefined && byte < 0x20
