// The answers that faults put in place of the right one: given statuses, redirects, S3's errors in all their
// shapes, and bytes that are not an answer.

import { type Answer, type Exchange, rawHead } from './exchange.ts'
import type { FaultOf } from './fault-types.ts'
import { requestId, type S3Error, s3Status, s3Xml } from './s3-errors.ts'

export interface ReplacedAnswer {
  answer: Answer
  point: NonNullable<FaultOf<'answer'>['point']>
  ending: FaultOf<'answer'>['ending']
}

/** The answer that the plan puts in place of the right one, if any. */
export function replacedAnswer(exchange: Exchange): ReplacedAnswer | null {
  const { plan } = exchange
  const fault = plan.get('answer') ?? plan.get('redirect') ?? plan.get('s3-error')
  if (fault === undefined) return null
  const answer =
    fault.kind === 'answer'
      ? givenAnswer(fault)
      : fault.kind === 'redirect'
        ? redirectAnswer(fault, exchange.url)
        : s3Answer(fault, STYLES[fault.style ?? 'plain'])
  if (fault.kind !== 'redirect') {
    const { retryAfter: wait, headers } = fault
    const retryAfter =
      typeof wait === 'object' ? new Date(exchange.now() + wait.dateInMs).toUTCString() : wait
    Object.assign(
      answer.headers,
      retryAfter !== undefined && { 'retry-after': retryAfter },
      headers,
    )
  }
  return { answer, point: fault.point ?? 'end', ending: fault.ending }
}

export function s3Answer(error: S3Error, shape = (xml: string) => xml): Answer {
  return {
    status: s3Status(error.code),
    headers: { 'x-store-request-id': requestId(), 'content-type': 'application/xml' },
    body: Buffer.from(shape(s3Xml(error))),
    code: error.code,
  }
}

export function rawBytes({ what, bytes = 256 * 1024 }: FaultOf<'raw'>): Buffer {
  const body = Buffer.from('{}')
  switch (what) {
    case 'garbage':
      return Buffer.from('\u0000\u0001 this is not HTTP at all\r\n\r\n')
    case 'two-answers':
      return Buffer.concat([rawHead(500, {}, body), body, rawHead(200, {}, body), body])
    case 'oversized-headers':
      return rawHead(200, { 'x-filler': 'x'.repeat(bytes) }, body)
    default:
      return what satisfies never
  }
}

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
  const details = { Endpoint: URL.parse(location)?.host ?? location }
  return {
    status,
    headers: { location, 'content-type': 'application/xml' },
    body: Buffer.from(s3Xml({ code, details })),
    code,
  }
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

function billionLaughs(): string {
  const levels = Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  )
  return `<!DOCTYPE Error [<!ENTITY l0 "ha">${levels.join('')}]>`
}
