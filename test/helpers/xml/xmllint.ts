// Checks documents with libxml2 (Debian's libxml2-utils).

import { spawnSync } from 'node:child_process'
import type { Folder } from '../feeds.ts'
import { verdictOf } from './verdicts.ts'

export const HAS_XMLLINT = spawnSync('xmllint', ['--version']).status === 0

/** judgedByXmllint returns true for each document in which libxml2 finds no fault, namespaces included. */
function judgedByXmllint(documents: Buffer[], folder: Folder): boolean[] {
  const files = documents.map((bytes, n) => folder.file(`${n}.xml`, bytes))
  const { stderr } = spawnSync('xmllint', ['--noout', '--nonet', '--huge', ...files], {
    maxBuffer: 1 << 28,
  })
  const wrong = new Set(
    Array.from(
      stderr.toString('latin1').matchAll(/^.*\/(\d+)\.xml:\d+: .*error(?!.*is not a valid URI)/gm),
      ([, n]) => Number(n),
    ),
  )
  return documents.map((_, n) => !wrong.has(n))
}

/** differsByDecision returns whether libxml2 2.9 differs from XML 1.0 here, or the checker does on purpose. */
function differsByDecision(document: Buffer): boolean {
  const text = document.toString('latin1')
  // The checker refuses every internal subset and HTML's DOCTYPE. For NUL padding at the end, it waits for the writer.
  if (/<!DOCTYPE[^>]*\[|<!DOCTYPE\s+html/i.test(text) || document.at(-1) === 0) return true
  // libxml2 does not require the white space after "<!DOCTYPE" (production 28).
  if (/<!DOCTYPE[^ \t\r\n]/.test(text)) return true
  // libxml2 accepts some encodings and versions in declarations with wrong grammar.
  return (
    /^(\xef\xbb\xbf)?<\?xml[^>]*(encoding|version)/.test(text) &&
    !text.includes('version="1.0" encoding="UTF-8"')
  )
}

/** unlikeXmllint returns the documents that only libxml2 or only the checker accepts, without a known reason. */
export function unlikeXmllint(documents: Buffer[], folder: Folder): Buffer[] {
  const theirs = judgedByXmllint(documents, folder)
  return documents.filter((document, i) => {
    const ours = verdictOf(document) === 'complete'
    // libxml2 stops reading at a NUL after the root; the checker accepts no document with a NUL.
    const cutAtNul = !ours && document.includes(0)
    return ours !== theirs[i] && !cutAtNul && !differsByDecision(document)
  })
}
