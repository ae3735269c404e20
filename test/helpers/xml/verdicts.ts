// Runs the check on bytes in pieces of a given size, and makes sure that the result does not depend on the handler.

import { deepStrictEqual } from 'node:assert'
import { DocumentChecker } from '../../../src/xml/document-checker.ts'
import type { Ending } from '../../../src/xml/fault.ts'
import type { XmlHandler } from '../../../src/xml/handler.ts'
import { LIMITS, type Limits } from '../../../src/xml/limits.ts'
import { LISTENERS } from './handlers.ts'

export interface CheckedBytes {
  ending: Ending
  encoding: string
}

/** checkBytes returns the result of the check. Throws if the result depends on what the handler listens to. */
export function checkBytes(
  document: string | Buffer,
  pieceSize = 65_536,
  limits: Limits = LIMITS,
): CheckedBytes {
  const bytes = typeof document === 'string' ? Buffer.from(document) : document
  const checked = heardBy(LISTENERS.everything, bytes, pieceSize, limits)
  for (const listener of [LISTENERS.some, LISTENERS.nothing]) {
    deepStrictEqual(heardBy(listener, bytes, pieceSize, limits), checked)
  }
  return checked
}

function heardBy(
  listener: XmlHandler,
  bytes: Buffer,
  pieceSize: number,
  limits: Limits,
): CheckedBytes {
  const check = new DocumentChecker(listener, limits)
  // Overwrite the memory after each piece, as the reader does.
  const memory = Buffer.alloc(Math.min(pieceSize, bytes.length))
  for (let at = 0; at < bytes.length; at += pieceSize) {
    const length = bytes.copy(memory, 0, at, at + pieceSize)
    if (!check.write(memory.subarray(0, length))) break
    memory.fill(0x21)
  }
  return { ending: check.end(), encoding: check.encoding.name }
}

/** verdictOf returns `complete`, `incomplete`, or the code of the fault. */
export function verdictOf(document: string | Buffer, pieceSize?: number, limits?: Limits): string {
  const { ending } = checkBytes(document, pieceSize, limits)
  return ending.kind === 'fault' ? ending.fault.code : ending.kind
}
