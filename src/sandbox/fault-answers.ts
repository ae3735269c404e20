// Turns the faults that replace an answer into answers: given statuses, redirects, S3's errors in
// all their shapes, and bytes that are no answer at all.

import type { Answer } from './exchange.ts'
import { rawHead } from './exchange.ts'
import type {
  AnswerOptions,
  Ending,
  Point,
  RetryAfter,
  SharedFault,
  StorageFault,
} from './fault-types.ts'
import type { Plan } from './faults.ts'
import { requestId, type S3Error, s3Status, s3Xml } from './s3-errors.ts'

export interface ReplacedAnswer {
  answer: Answer
  point: Point
  /** null: the usual one. */
  ending: Ending | null
}

type Fault<K> = Extract<SharedFault | StorageFault, { kind: K }>

/** The answer that the plan puts in place of the right one, if any. `now`: wall ms; `url`: of the request. */
export function replacedAnswer(plan: Plan, now: number, url: string): ReplacedAnswer | null {
  const [given, redirect, s3] = [plan.get('answer'), plan.get('redirect'), plan.get('s3-error')]
  const fault = given ?? redirect ?? s3
  if (fault === undefined) return null
  const base =
    given !== undefined
      ? givenAnswer(given)
      : redirect !== undefined
        ? redirectAnswer(redirect, url)
        : shapedError(fault as Fault<'s3-error'>)
  const options: AnswerOptions = fault.kind === 'redirect' ? {} : fault
  const extra = {
    ...(options.retryAfter === undefined
      ? {}
      : { 'retry-after': retryAfter(options.retryAfter, now) }),
    ...options.headers,
  }
  return {
    answer: { ...base, headers: { ...base.headers, ...extra } },
    point: fault.point ?? 'end',
    ending: fault.ending ?? null,
  }
}

export function s3Answer(error: S3Error): Answer {
  return {
    status: s3Status(error.code),
    headers: { 'x-store-request-id': requestId(), 'content-type': 'application/xml' },
    body: Buffer.from(s3Xml(error)),
    code: error.code,
  }
}

export function rawBytes(fault: Fault<'raw'>): Buffer {
  const ok: Answer = { status: 200, headers: {}, body: Buffer.from('{}'), code: null }
  switch (fault.what) {
    case 'garbage':
      return Buffer.from('\u0000\u0001 this is not HTTP at all\r\n\r\n')
    case 'two-answers': {
      const one = Buffer.concat([rawHead({ ...ok, status: 500 }, {}), ok.body])
      return Buffer.concat([one, rawHead(ok, {}), ok.body])
    }
    case 'oversized-headers':
      return rawHead(ok, { 'x-filler': 'x'.repeat(fault.bytes ?? 256 * 1024) })
    default:
      throw new Error(`unknown bytes ${fault.what satisfies never}`)
  }
}

function givenAnswer(fault: Fault<'answer'>): Answer {
  const body = fault.body ?? ''
  const type = body.startsWith('{')
    ? 'application/json'
    : body.startsWith('<?xml')
      ? 'application/xml'
      : body.startsWith('<')
        ? 'text/html'
        : 'text/plain'
  return {
    status: fault.status,
    headers: { 'content-type': type },
    body: Buffer.from(body),
    code: null,
  }
}

function redirectAnswer(fault: Fault<'redirect'>, url: string): Answer {
  const location =
    fault.location === 'loop'
      ? url
      : fault.location === 'same-host'
        ? new URL('/elsewhere', url).href
        : fault.location
  const code = fault.status === 301 ? 'PermanentRedirect' : 'TemporaryRedirect'
  const endpoint = URL.canParse(location) ? new URL(location).host : location
  return {
    status: fault.status,
    headers: { location, 'content-type': 'application/xml' },
    body: Buffer.from(s3Xml({ code, details: { Endpoint: endpoint } })),
    code,
  }
}

function shapedError(fault: Fault<'s3-error'>): Answer {
  const { code, message, details } = fault
  const plain = s3Answer({ code, message, details })
  return { ...plain, body: Buffer.from(shaped(plain.body.toString(), fault)) }
}

function shaped(xml: string, { style = 'plain', code }: Fault<'s3-error'>): string {
  switch (style) {
    case 'plain':
      return xml
    case 'bom':
      return `\uFEFF${xml}`
    case 'namespace':
      return xml.replace('<Error>', '<Error xmlns="http://store.example.com/doc/2006-03-01/">')
    case 'cdata':
      return xml.replace(/<Code>.*<\/Code>/, `<Code><![CDATA[${code}]]></Code>`)
    case 'entities':
      return xml
        .replace('<Error>', `${billionLaughs()}<Error>`)
        .replace('<Message>', '<Message>&l9;')
    case 'huge':
      return xml.replace('<Message>', `<Message>${'x'.repeat(10_000_000)}`)
    case 'truncated':
      return xml.slice(0, xml.length >> 1)
    default:
      throw new Error(`unknown style ${style satisfies never}`)
  }
}

function billionLaughs(): string {
  const levels = Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  )
  return `<!DOCTYPE Error [<!ENTITY l0 "ha">${levels.join('')}]>`
}

function retryAfter(value: RetryAfter, now: number): string {
  return typeof value === 'string' ? value : new Date(now + value.dateInMs).toUTCString()
}
