// libxml2 as a judge of documents (Debian's libxml2-utils).

import { spawnSync } from 'node:child_process'
import type { Folder } from '../feeds.ts'
import { verdictOf } from './verdicts.ts'

export const HAS_XMLLINT = spawnSync('xmllint', ['--version']).status === 0

/** True where libxml2 finds nothing wrong, namespaces included. */
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

/** Where libxml2 2.9 is known to differ from XML 1.0 fifth edition, or we by decision. */
function differsByDecision(document: Buffer): boolean {
  const text = document.toString('latin1')
  // An internal subset and HTML's DOCTYPE are refused whatever they hold; NUL padding waits for its writer.
  if (/<!DOCTYPE[^>]*\[|<!DOCTYPE\s+html/i.test(text) || document.at(-1) === 0) return true
  // The white space after "<!DOCTYPE" (production 28), which libxml2 does not ask for.
  if (/<!DOCTYPE[^ \t\r\n]/.test(text)) return true
  // Encodings and versions that libxml2 lets pass although the declaration is not grammatical.
  return (
    /^(\xef\xbb\xbf)?<\?xml[^>]*(encoding|version)/.test(text) &&
    !text.includes('version="1.0" encoding="UTF-8"')
  )
}

/** The documents that are ok for one of the two and not for the other, without a known reason. */
export function unlikeXmllint(documents: Buffer[], folder: Folder): Buffer[] {
  const theirs = judgedByXmllint(documents, folder)
  return documents.filter((document, i) => {
    const ours = verdictOf(document) === 'complete'
    // libxml2 reads no further than a NUL behind the root; nothing of ours that is ok has one.
    const cutAtNul = !ours && document.includes(0)
    return ours !== theirs[i] && !cutAtNul && !differsByDecision(document)
  })
}
