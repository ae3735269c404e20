// This file makes the answers that faults send instead of the real answer: an answer that the rule gives, a redirect,
// an S3 error in several shapes, or bytes that are not HTTP.

import type { Answer } from '../http/answer.ts'
import { rawHead } from '../http/exchange.ts'
import { s3Answer } from '../storage/s3-answer.ts'
import type { FaultOf } from './fault-types.ts'

type Replacement = FaultOf<'answer'> | FaultOf<'redirect'> | FaultOf<'s3-error'>

/** replacementAnswer returns the answer of a fault to the request for `url`. `now` is wall-clock ms. */
export function replacementAnswer(fault: Replacement, url: string, now: number): Answer {
  const { ending } = fault
  if (fault.kind === 'redirect') return { ...redirectAnswer(fault, url), ending }
  const answer =
    fault.kind === 'answer'
      ? givenAnswer(fault)
      : s3Answer(s3ErrorOf(fault), STYLES[fault.style ?? 'plain'])
  const { retryAfter: wait } = fault
  const retryAfter = typeof wait === 'object' ? new Date(now + wait.dateInMs).toUTCString() : wait
  const headers = {
    ...answer.headers,
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    ...fault.headers,
  }
  return { ...answer, headers, ending }
}

const EMPTY_JSON: Answer = { status: 200, headers: {}, body: Buffer.from('{}'), code: null }

/** rawBytes returns the bytes that the fault `raw` sends. The second argument is the real answer, by default `{}`. */
export function rawBytes(
  { what, bytes = 256 * 1024 }: FaultOf<'raw'>,
  { body, headers, status }: Answer = EMPTY_JSON,
): Buffer {
  /** whole returns the answer as bytes, with more headers, and with its head changed by `change`. */
  const whole = (more: Record<string, string> = {}, change = (head: string) => head) => {
    const head = rawHead(status, { ...headers, ...more }, body).toString('latin1')
    return Buffer.concat([Buffer.from(change(head), 'latin1'), body])
  }
  switch (what) {
    case 'garbage':
      return Buffer.from('\u0000\u0001 this is not HTTP at all\r\n\r\n')
    case 'two-answers':
      return Buffer.concat([rawHead(500, {}, EMPTY_JSON.body), EMPTY_JSON.body, whole()])
    case 'without-cr':
      return whole({}, (head) => head.replaceAll('\r', ''))
    case 'both-lengths':
      return whole({ 'transfer-encoding': 'chunked' })
    case 'folded-header':
      return whole({ 'x-folded': 'a' }, (head) => head.replace('x-folded: a', 'x-folded: a\r\n b'))
    case 'oversized-headers':
      return whole({ 'set-cookie': 'x'.repeat(bytes) })
    default:
      return what satisfies never
  }
}

/** givenAnswer makes the answer that the rule gives. The first characters of its body decide the content type. */
function givenAnswer({ status, body = '' }: FaultOf<'answer'>): Answer {
  const type = body.startsWith('{')
    ? 'application/json'
    : body.startsWith('<?xml')
      ? 'application/xml'
      : body.startsWith('<')
        ? 'text/html'
        : 'text/plain'
  return { status, headers: { 'content-type': type }, body: Buffer.from(body), code: null }
}

function redirectAnswer({ status, location: to }: FaultOf<'redirect'>, url: string): Answer {
  const location = to === 'loop' ? url : to === 'same-host' ? new URL('/elsewhere', url).href : to
  const code = status === 301 ? 'PermanentRedirect' : 'TemporaryRedirect'
  const answer = s3Answer({ code, details: { Endpoint: URL.parse(location)?.host ?? location } })
  return { ...answer, status, headers: { ...answer.headers, location } }
}

type Style = NonNullable<FaultOf<'s3-error'>['style']>

const STYLES: Record<Style, (xml: string) => string> = {
  plain: (xml) => xml,
  bom: (xml) => `\uFEFF${xml}`,
  namespace: (xml) =>
    xml.replace('<Error>', '<Error xmlns="http://store.example.com/doc/2006-03-01/">'),
  cdata: (xml) => xml.replace(/<Code>(.*)<\/Code>/, '<Code><![CDATA[$1]]></Code>'),
  entities: (xml) =>
    xml.replace('<Error>', `${billionLaughs()}<Error>`).replace('<Message>', '<Message>&l9;'),
  huge: (xml) => xml.replace('<Message>', `<Message>${'x'.repeat(10_000_000)}`),
  truncated: (xml) => xml.slice(0, xml.length >> 1),
}

/** billionLaughs returns a document type in which the entity `l9` stands for a billion times `ha`. */
function billionLaughs(): string {
  const levels = Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  )
  return `<!DOCTYPE Error [<!ENTITY l0 "ha">${levels.join('')}]>`
}

/** s3ErrorOf leaves out the headers of the rule, because `replacementAnswer` adds them. */
const s3ErrorOf = ({ code, message, details }: FaultOf<'s3-error'>) => ({ code, message, details })
