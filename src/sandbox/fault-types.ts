// The closed set of faults that the sandbox can play, as one schema: a test, a JSON file and the control
// route write the same rules. The side that plays a fault holds the code for it.

import { z } from 'zod'
import { expected, readJson } from './json-file.ts'
import { S3_CODES } from './s3-errors.ts'

export type Side = 'service' | 'storage'

/** How a connection ends: FIN, or RST. */
const cut = z.enum(['fin', 'rst'])
const cutOrSilence = z.enum(['fin', 'rst', 'silence'])
const number = z.number()
const texts = z.record(z.string(), z.string(), { error: 'expected an object of texts' })

/**
 * Storage only, default `end`. `headers`: no body byte is read; `fields`: before the file; `middle`: half of the
 * file is read; `end`: all of it.
 */
const point = z.enum(['headers', 'fields', 'middle', 'end']).optional()
/**
 * What follows an answer that comes before the body's end: FIN and keep reading (the default); close at once; stop
 * reading and hold; RST in the middle of the answer's body.
 */
const ending = z.enum(['drain', 'destroy', 'hold', 'cut']).optional()
/** A header's value, or an HTTP date this many ms from now. */
const retryAfter = z.union([z.string(), z.strictObject({ dateInMs: number })]).optional()
const answerOptions = { headers: texts.optional(), retryAfter, point, ending }

/** When a fault is played: all that is given must hold. */
const conditions = {
  /** At most this often; default: always. */
  times: number.optional(),
  /** Not for the first so many requests that match. */
  after: number.optional(),
  /** Only each n-th request that matches, beginning with the first. */
  every: number.optional(),
  /** Of the requests that match, 0 to 100, drawn from `seed` (default 1). */
  percent: number.optional(),
  seed: number.optional(),
  /** As in `SeenRequest.route`. */
  route: z.string().optional(),
  account: z.string().optional(),
  /** Storage only: the object's key contains this. */
  key: z.string().optional(),
}

function fault<S extends Side, K extends string, Shape extends z.ZodRawShape>(
  at: readonly S[],
  kind: K,
  shape: Shape,
) {
  return z.strictObject({ at: z.enum(at), kind: z.literal(kind), ...shape, ...conditions })
}

const BOTH = ['service', 'storage'] as const

const KINDS = [
  // Faults of a connection or of an answer's bytes. `interim`, `transfer`, `connection-close` and `keep-alive` shape
  // an answer that comes after the whole body was read.
  /** The connection ends as soon as it is accepted. */
  fault(BOTH, 'refuse', { how: cut }),
  /** `headers`: as soon as the request's head is read; `reuse`: only on a connection that served before. */
  fault(BOTH, 'drop', { point: z.enum(['headers', 'reuse']), how: cut }),
  /** Any answer in place of the right one; nothing is stored. */
  fault(BOTH, 'answer', { status: number, body: z.string().optional(), ...answerOptions }),
  /** 307, 301, 303, 308. `same-host`: another path; `loop`: the same address. Any other text is sent as it is. */
  fault(BOTH, 'redirect', { status: number, location: z.string(), point, ending }),
  /** Bytes that are no HTTP, two final answers, or a header of `bytes` bytes (default 256 KiB). */
  fault(BOTH, 'raw', {
    what: z.enum(['garbage', 'two-answers', 'oversized-headers']),
    bytes: number.optional(),
  }),
  /** An interim answer that the client did not ask for, before the final one. */
  fault(BOTH, 'interim', { status: z.literal([100, 102, 103]) }),
  /** How the bytes of the answer's body travel. */
  fault(BOTH, 'transfer', { how: z.enum(['chunked', 'gzip', 'byte-by-byte']) }),
  /** `Connection: close` on the answer. */
  fault(BOTH, 'connection-close', {}),
  /** Announces `Keep-Alive: timeout=seconds` and closes the idle connection after `closeAfterMs`. */
  fault(BOTH, 'keep-alive', { seconds: number, closeAfterMs: number, how: cut.optional() }),
  /**
   * The request waits until it is released: by `Fault`, or by `POST /_sandbox/faults/ID/release` (those that wait now)
   * and `DELETE /_sandbox/faults/ID` (the gate is gone). `GET /_sandbox/faults` tells how many are held.
   * `headers`: its head is read, of its body nothing; `end`: its body is read, nothing is stored or carried out;
   * `answer`: it is stored or carried out, and its answer is not sent.
   * What a client sent before it went away is still read after a release, so its upload may come whole.
   */
  fault(BOTH, 'gate', { point: z.enum(['headers', 'end', 'answer']) }),

  /** The answer's head comes late, its body slowly, or nothing comes at all. */
  fault(['service'], 'slow', {
    headersAfterMs: number.optional(),
    bytesPerSecond: number.optional(),
    never: z.boolean().optional(),
  }),
  /** A 200 whose JSON is not what was promised, or has more than that. */
  fault(['service'], 'json', {
    variant: z.enum([
      'truncated',
      'invalid',
      'empty',
      'empty-object',
      'no-url',
      'no-key',
      'more-fields',
    ]),
  }),
  /** The service's clock is `skewMs` ahead (negative: behind) in its `Date` and in what it accepts. */
  fault(['service'], 'date', {
    skewMs: number.optional(),
    ageSeconds: number.optional(),
    omit: z.boolean().optional(),
  }),
  /**
   * The request is carried out, then its answer is lost: the client cannot know whether it was. With `afterMs` the
   * answer is lost first, and the request is carried out so many ms later.
   */
  fault(['service'], 'commit-drop', { how: cutOrSilence, afterMs: number.optional() }),
  /** A right signature is refused. */
  fault(['service'], 'signature-mismatch', {}),
  /** A form that is odd. The storage judges it as it judges any form. */
  fault(['service'], 'form', {
    /** Negative: issued expired. */
    lifetimeMs: number.optional(),
    /** Life of the security token, when it is to die before the form. */
    tokenLifetimeMs: number.optional(),
    policy: z
      .enum(['not-base64', 'not-json', 'no-expiration', 'whole-seconds', 'with-newlines'])
      .optional(),
    /** The key of the form that was issued before. */
    sameKey: z.boolean().optional(),
    successStatus: z.string().optional(),
    contentLengthRange: z
      .tuple([z.int(), z.int()], { error: 'expected two whole numbers' })
      .readonly()
      .optional(),
  }),

  /** A gate where this many bytes of the file are read; negative: counted from its end. */
  fault(['storage'], 'gate-at-byte', { fileByte: number }),
  /** The connection ends when this many bytes of the file are read; negative: counted from its end. */
  fault(['storage'], 'drop-at-byte', { fileByte: number, how: cut }),
  /** One of S3's errors. `style` shapes the XML; `huge` is 10 MB, `entities` a billion laughs. */
  fault(['storage'], 's3-error', {
    code: z.enum(S3_CODES),
    message: z.string().optional(),
    details: texts.optional(),
    style: z
      .enum(['plain', 'bom', 'namespace', 'cdata', 'entities', 'huge', 'truncated'])
      .optional(),
    ...answerOptions,
  }),
  /**
   * The whole body is read, then the answer is lost: the client cannot know whether the object is stored. With
   * `afterMs` it is stored so many ms after the connection ended.
   */
  fault(['storage'], 'lose-answer', {
    stored: z.boolean(),
    how: cutOrSilence,
    afterMs: number.optional(),
  }),
  /** The body is read no faster than this. */
  fault(['storage'], 'throttle', { bytesPerSecond: number }),
  /** Reading stops at this byte of the file for `ms`. */
  fault(['storage'], 'stall', {
    fileByte: number,
    ms: number,
    afterwards: z.enum(['continue', 'request-timeout', 'rst']),
  }),
  /** The object is stored, and the answer is another one than expected. */
  fault(['storage'], 'success', {
    status: number.optional(),
    /** `truncated`: half of the XML, properly ended; `cut`: RST after half of it. */
    body: z.enum(['xml', 'none', 'html', 'truncated', 'cut']).optional(),
    etag: z.enum(['wrong', 'opaque', 'missing', 'weak', 'unquoted']).optional(),
    checksum: z.literal('wrong').optional(),
    /** false: the storage lies. */
    stored: z.boolean().optional(),
  }),
] as const

export type FaultRule = z.infer<(typeof KINDS)[number]> & {
  /** Programs only. */
  where?: (request: FaultSubject) => boolean
}
export type FaultKind = FaultRule['kind']
export type FaultOf<K extends FaultKind> = Extract<FaultRule, { kind: K }>
export type Cut = z.infer<typeof cut>
export type Ending = NonNullable<z.infer<typeof ending>>
export type GatePoint = FaultOf<'gate'>['point']
export type Conditions = Omit<FaultOf<'connection-close'>, 'at' | 'kind'>

export interface FaultSubject {
  route: string
  account: string | null
  key: string | null
  /** Whether the connection served a request before. */
  reused: boolean
}

const RULES = z.array(z.discriminatedUnion('kind', KINDS))

/** One rule or a list. Throws `FeedsyncError` that names the first rule and key that are wrong. */
export function parseFaults(json: string): FaultRule[] {
  const hint = 'docs/sandbox.md shows the faults'
  return readJson(json, RULES, { what: 'faults', hint, expectation })
}

function expectation(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== 'invalid_union') return expected(issue)
  return issue.path?.at(-1) === 'kind'
    ? `expected one of ${KINDS.map(({ shape }) => shape.kind.value).join(', ')}`
    : 'expected a text or {"dateInMs": NUMBER}'
}
