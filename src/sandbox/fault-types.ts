// This file is the schema of all faults. Tests, JSON files and the control routes use the same rules. The side that
// plays a fault, service or storage, has the code for it.

import { z } from 'zod'
import { expected, readJson } from './json-file.ts'
import { S3_CODES } from './s3-errors.ts'

export type Side = 'service' | 'storage'

/** cut says whether the connection ends with FIN or RST. */
const cut = z.enum(['fin', 'rst'])
const cutOrSilence = z.enum(['fin', 'rst', 'silence'])
const number = z.number()
const texts = z.record(z.string(), z.string(), { error: 'expected an object of strings' })

/**
 * point says when the storage answers, by default at the `end`. `headers`: before the body; `fields`: before the file;
 * `middle`: after half of the file; `end`: after the body. The service ignores it.
 */
const point = z.enum(['headers', 'fields', 'middle', 'end']).optional()
/**
 * ending says what follows an answer that is sent before the end of the request's body. `drain` (default): send FIN and
 * read on; `destroy`: close at once; `hold`: stop reading and stay open; `cut`: RST in the middle of the answer's body.
 */
const ending = z.enum(['drain', 'destroy', 'hold', 'cut']).optional()
/** retryAfter is the value of the header, or `dateInMs` for an HTTP date this many ms from now. */
const retryAfter = z.union([z.string(), z.strictObject({ dateInMs: number })]).optional()
const answerOptions = { headers: texts.optional(), retryAfter, point, ending }

/** conditions say when a fault is played. A request must meet all conditions that a rule has. */
const conditions = {
  /** times is the most times that the fault is played; default: no limit. */
  times: number.optional(),
  /** after is the number of matching requests that the fault skips first. */
  after: number.optional(),
  /** every plays the fault for each n-th matching request, beginning with the first. */
  every: number.optional(),
  /** percent (0 to 100) is the share of the matching requests, chosen at random by `seed` (default 1). */
  percent: number.optional(),
  seed: number.optional(),
  /** route is one of the names of `SeenRequest.route`. */
  route: z.string().optional(),
  account: z.string().optional(),
  /** key is a part of the object's key, on the storage only. */
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
  // Both sides. `interim`, `transfer`, `connection-close` and `keep-alive` change answers that follow the whole body.
  /** `refuse` ends the connection as soon as it is accepted. */
  fault(BOTH, 'refuse', { how: cut }),
  /** `drop` ends the connection after the request's head; with `reuse`, only if it has served a request before. */
  fault(BOTH, 'drop', { point: z.enum(['headers', 'reuse']), how: cut }),
  /** `answer` sends this answer instead of the real one, and stores nothing. */
  fault(BOTH, 'answer', { status: number, body: z.string().optional(), ...answerOptions }),
  /** `redirect` (301, 303, 307, 308) leads to another path (`same-host`), the same address (`loop`) or any address. */
  fault(BOTH, 'redirect', { status: number, location: z.string(), point, ending }),
  /** `raw` sends bytes that are not HTTP, two final answers, or a header of `bytes` bytes (default 256 KiB). */
  fault(BOTH, 'raw', {
    what: z.enum(['garbage', 'two-answers', 'oversized-headers']),
    bytes: number.optional(),
  }),
  /** `interim` sends an interim answer that the client did not ask for, before the final one. */
  fault(BOTH, 'interim', { status: z.literal([100, 102, 103]) }),
  /** `transfer` changes how the bytes of the answer's body are sent. */
  fault(BOTH, 'transfer', { how: z.enum(['chunked', 'gzip', 'byte-by-byte']) }),
  /** `connection-close` adds `Connection: close` to the answer. */
  fault(BOTH, 'connection-close', {}),
  /** `keep-alive` announces `Keep-Alive: timeout=seconds` and closes the idle connection after `closeAfterMs`. */
  fault(BOTH, 'keep-alive', { seconds: number, closeAfterMs: number, how: cut.optional() }),
  /**
   * `gate` holds requests until `POST /_sandbox/faults/ID/release` lets the waiting ones go on, or
   * `DELETE /_sandbox/faults/ID` removes the gate. `Fault` has the same two methods. `GET /_sandbox/faults` counts the
   * held requests. `headers` holds before the body is read, `end` after the body and before the request is carried out,
   * `answer` after that and before the answer. If a held client closes, the sandbox still reads after the release what
   * the client sent, so its upload may be complete.
   */
  fault(BOTH, 'gate', { point: z.enum(['headers', 'end', 'answer']) }),

  // The service.
  /** `slow` delays the answer's head, sends its body slowly, or never answers. */
  fault(['service'], 'slow', {
    headersAfterMs: number.optional(),
    bytesPerSecond: number.optional(),
    never: z.boolean().optional(),
  }),
  /** `json` answers 200 with damaged JSON, or with missing or additional fields. */
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
  /** `date` sets the service's clock `skewMs` ahead (negative: behind), in its `Date` and in the check of dates. */
  fault(['service'], 'date', {
    skewMs: number.optional(),
    ageSeconds: number.optional(),
    omit: z.boolean().optional(),
  }),
  /**
   * `commit-drop` carries the request out and loses the answer, so that the client cannot know the result. With
   * `afterMs`, the answer is lost first and the request is carried out `afterMs` later.
   */
  fault(['service'], 'commit-drop', { how: cutOrSilence, afterMs: number.optional() }),
  /** `signature-mismatch` refuses a correct signature. */
  fault(['service'], 'signature-mismatch', {}),
  /** `form` issues an unusual form. The storage checks it like any other form. */
  fault(['service'], 'form', {
    /** lifetimeMs is negative for a form that has expired already. */
    lifetimeMs: number.optional(),
    /** tokenLifetimeMs is the lifetime of the security token, which may expire before the form. */
    tokenLifetimeMs: number.optional(),
    policy: z
      .enum(['not-base64', 'not-json', 'no-expiration', 'whole-seconds', 'with-newlines'])
      .optional(),
    /** sameKey repeats the object key of the previous form. */
    sameKey: z.boolean().optional(),
    successStatus: z.string().optional(),
    contentLengthRange: z
      .tuple([z.int(), z.int()], { error: 'expected two whole numbers' })
      .readonly()
      .optional(),
  }),

  // The storage. A negative `fileByte` counts from the end of the file.
  /** `gate-at-byte` is a gate after this many bytes of the file. */
  fault(['storage'], 'gate-at-byte', { fileByte: number }),
  /** `drop-at-byte` ends the connection after this many bytes of the file. */
  fault(['storage'], 'drop-at-byte', { fileByte: number, how: cut }),
  /** `s3-error` answers with an S3 error. `style` shapes the XML: `huge` is 10 MB, `entities` a billion-laughs bomb. */
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
   * `lose-answer` reads the whole body and loses the answer, so that the client cannot know whether the object is
   * stored. With `afterMs`, the object is stored `afterMs` after the connection has ended.
   */
  fault(['storage'], 'lose-answer', {
    stored: z.boolean(),
    how: cutOrSilence,
    afterMs: number.optional(),
  }),
  /** `throttle` limits how fast the file is read. */
  fault(['storage'], 'throttle', { bytesPerSecond: number }),
  /** `stall` stops reading at this byte of the file for `ms`. */
  fault(['storage'], 'stall', {
    fileByte: number,
    ms: number,
    afterwards: z.enum(['continue', 'request-timeout', 'rst']),
  }),
  /** `success` stores the object and sends an unexpected answer. */
  fault(['storage'], 'success', {
    status: number.optional(),
    /** body `truncated` is half of the XML with a matching length; `cut` is an RST after half of the XML. */
    body: z.enum(['xml', 'none', 'html', 'truncated', 'cut']).optional(),
    etag: z.enum(['wrong', 'opaque', 'missing', 'weak', 'unquoted']).optional(),
    checksum: z.literal('wrong').optional(),
    /** If stored is false, the storage reports a success but stores nothing. */
    stored: z.boolean().optional(),
  }),
] as const

export type FaultRule = z.infer<(typeof KINDS)[number]> & {
  /** where is a condition that only programs can set. */
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
  /** reused says that the connection served a request before. */
  reused: boolean
}

const RULES = z.array(z.discriminatedUnion('kind', KINDS))

/** parseFaults reads one rule or a list. Throws a `FeedsyncError` that names the first wrong rule and key. */
export function parseFaults(json: string): FaultRule[] {
  const hint = 'docs/sandbox.md shows the faults'
  return readJson(json, RULES, { what: 'faults', hint, expectation })
}

function expectation(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== 'invalid_union') return expected(issue)
  return issue.path?.at(-1) === 'kind'
    ? `expected one of ${KINDS.map(({ shape }) => shape.kind.value).join(', ')}`
    : 'expected a string or {"dateInMs": NUMBER}'
}
