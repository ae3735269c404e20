// Compares the checker with a check on top of saxes (./saxes): both must give the same verdict, at the same place, in
// the same words.

import { DocumentChecker } from '../../../src/xml/document-checker.ts'
import { Decoder } from '../../../src/xml/encoding/decoder.ts'
import type { Ending } from '../../../src/xml/fault.ts'
import { decodedText } from '../../../src/xml/handler.ts'
import {
  DIGIT,
  HTML_HINT,
  LESS_THAN,
  PERCENT_HINT,
  SLASH_HINT,
  SPACE_HINT,
} from '../../../src/xml/hints.ts'
import { LIMITS } from '../../../src/xml/limits.ts'
import { everything } from './handlers.ts'
import { SaxesCheck } from './saxes/saxes-check.ts'

const HINTS = [HTML_HINT, PERCENT_HINT, SLASH_HINT, SPACE_HINT]
const LEAVE_IT_OUT = 'is not allowed in XML; leave it out'

interface Opinion {
  /** `complete`, `incomplete`, or the code of the fault. */
  verdict: string
  reason: string
  /** Bytes of UTF-8 before the fault. */
  at: number
  /** The reported events of the document: tags, attributes, text. */
  events: string
}

function ours(bytes: Buffer): Opinion {
  let events = ''
  const check = new DocumentChecker(
    {
      ...everything,
      open(name, attributes) {
        events += `<${name.text}`
        for (let i = 0; i < attributes.count; i++) {
          events += ` ${attributes.nameAt(i).text}=${JSON.stringify(attributes.valueAt(i))}`
        }
        return true
      },
      text: (text) => (events += decodedText(text)),
      close: () => (events += '>'),
    },
    LIMITS,
  )
  for (let at = 0; at < bytes.length; at += 4_000) check.write(bytes.subarray(at, at + 4_000))
  return opinion(check.end(), events, (at) => at)
}

function theirs(bytes: Buffer): Opinion {
  let events = ''
  let depth = 0
  const check = new SaxesCheck(
    {
      open(name, attributes) {
        depth++
        events += `<${name}`
        for (const { name: key, value } of Object.values(attributes)) {
          events += ` ${key}=${JSON.stringify(value)}`
        }
      },
      // saxes also reports the white space outside the root.
      text: (text) => (events += depth > 0 ? text : ''),
      close() {
        depth--
        events += '>'
      },
    },
    LIMITS,
  )
  check.write(bytes)
  const ending = check.end()
  const { text } = new Decoder(check.encoding).write(bytes.subarray(check.bom))
  return opinion(ending, events, (at) => Buffer.byteLength(text.slice(0, at)))
}

function opinion(ending: Ending, events: string, place: (at: number) => number): Opinion {
  if (ending.kind === 'complete') return { verdict: 'complete', reason: '', at: 0, events }
  if (ending.kind === 'incomplete') {
    return { verdict: 'incomplete', reason: '', at: place(ending.at), events: '' }
  }
  const { code, reason, at } = ending.fault
  // Only the checker names the character that the byte means in windows-1252, and the usual cause.
  const bare = HINTS.reduce(
    (text, hint) => text.replace(hint, ''),
    reason.replace(DIGIT, LESS_THAN),
  )
  return {
    verdict: code,
    reason: bare.replace(/ \(in windows-1252 .*?\)/, ''),
    at: place(at),
    events: '',
  }
}

/** unlikeSaxes returns the documents with different opinions and no known reason, with both opinions. */
export function unlikeSaxes(documents: Iterable<Buffer>): unknown[] {
  const found: unknown[] = []
  for (const document of documents) {
    const [our, their] = [ours(document), theirs(document)]
    if (JSON.stringify(our) !== JSON.stringify(their) && !explained(our, their)) {
      found.push({ document: document.toString('latin1').slice(0, 2000), our, their })
    }
  }
  return found
}

/** explained returns whether the opinions differ for a known reason, although both refuse the document. */
function explained(our: Opinion, their: Opinion): boolean {
  // The checker counts the length of a name in bytes, saxes in UTF-16 units.
  if (our.verdict === 'name-too-long') return their.verdict === 'not-well-formed'
  // The adapter of saxes stops at an undecodable byte, and does not judge the uncertain text before it.
  if (their.verdict === 'undecodable') return our.verdict !== 'complete' && our.at < their.at
  // The adapter treats all Unicode white space as white space. XML allows some of it in names and some not in tags.
  if (/[^\S \t\r\n]/.test(our.reason)) return our.verdict === their.verdict && our.at === their.at
  // saxes reads the text after a "--" or "/" before it reports it.
  if (/^"(--|\/)"/.test(our.reason) && their.reason.endsWith(LEAVE_IT_OUT)) {
    return our.verdict === their.verdict && our.at <= their.at
  }
  // The checker names a character that is never allowed, also inside a DOCTYPE.
  if (their.reason.startsWith('the DOCTYPE is wrong')) return our.reason.endsWith(LEAVE_IT_OUT)
  // saxes does not report the start of a name: the adapter searches for it and finds the local name or a later tag.
  return (
    our.reason === their.reason &&
    / twice$| is not a name: /.test(our.reason) &&
    our.at !== their.at
  )
}
