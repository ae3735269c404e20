// This file is the schema of all faults. Tests, JSON files and the control routes use the same rules. The code that
// plays the faults is in service-faults.ts, in storage-faults.ts and, for both sides, in played.ts.

import { z } from 'zod'
import type { AnswerEnding, Cut } from '../http/answer.ts'
import { expecting, readBodyList, readJson } from '../json-input.ts'
import type { Side } from '../records.ts'
import { ROUTES } from '../service/routes.ts'
import { S3_CODES } from '../storage/s3-errors.ts'

/** cut says whether the connection ends with FIN or RST. */
const cut = z.enum(['fin', 'rst'] satisfies Cut[])
const cutOrSilence = z.enum(['fin', 'rst', 'silence'])
/** LONGEST_WAIT is a hundred years in ms. A date that is so far away can still be written in a header. */
const LONGEST_WAIT = 100 * 365 * 24 * 3_600_000
const count = z.int().nonnegative()
const waitMs = z.number().nonnegative().max(LONGEST_WAIT)
const shiftMs = z.number().min(-LONGEST_WAIT).max(LONGEST_WAIT)
const rate = z.number().positive({ error: expecting('a number above 0') })
const statusBetween = (least: number, most: number) => {
  const error = expecting(`a status from ${least} to ${most}`)
  return z.int({ error }).min(least, { error }).max(most, { error })
}
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, {
  error: expecting('the value of a header, without line breaks'),
})
const headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~\dA-Za-z-]+$/, { error: expecting('the name of a header') }),
  headerValue,
  { error: expecting('an object of strings') },
)
const texts = z.record(z.string().regex(/^[A-Za-z]\w*$/), z.string(), {
  error: expecting('an object of strings'),
})

/**
 * point says when the storage answers: before the body (`headers`), before the file (`fields`), after half of the file
 * (`middle`) or after the body (`end`, the default). The service ignores the point.
 */
const point = z.enum(['headers', 'fields', 'middle', 'end']).optional()
/** ending says what follows an answer that is sent before the end of the request's body; see `AnswerEnding`. */
const ending = z.enum(['drain', 'destroy', 'hold', 'cut'] satisfies AnswerEnding[]).optional()
/** retryAfter is the value of the header Retry-After. `dateInMs` stands for the HTTP date so many ms from now. */
const retryAfter = z
  .union([headerValue, z.strictObject({ dateInMs: shiftMs })], {
    error: expecting('a string or {"dateInMs": NUMBER}'),
  })
  .optional()
const answerOptions = { headers: headers.optional(), retryAfter, point, ending }

const ROUTE_NAMES = [...ROUTES.map(({ name }) => name), 'store', 'fetch', 'unknown'] as const

/** conditions say when a fault is played. A request must meet all conditions that a rule has. */
const conditions = {
  /** times is how often the fault is played at most. By default there is no limit. */
  times: count.optional(),
  /** after is the number of matching requests that the fault skips first. */
  after: count.optional(),
  /** every plays the fault for each n-th matching request, beginning with the first. */
  every: z
    .int()
    .positive({ error: expecting('a whole number from 1') })
    .optional(),
  /** percent (0 to 100) is the share of the matching requests, chosen at random by `seed` (default 1). */
  percent: z.number().min(0).max(100).optional(),
  seed: z.number().optional(),
  /** route is one of the names of `SeenRequest.route`. */
  route: z.enum(ROUTE_NAMES).optional(),
  account: z.string().optional(),
  /** key is a part of the object's key, on the storage only. */
  key: z.string().optional(),
}

/** fault makes the schema of a kind of fault that the sides in `at` can play. `shape` has the fields of this kind. */
function fault<S extends Side, K extends string, Shape extends z.ZodRawShape>(
  at: readonly S[],
  kind: K,
  shape: Shape,
) {
  return z.strictObject({ at: z.enum(at), kind: z.literal(kind), ...shape, ...conditions })
}

const BOTH = ['service', 'storage'] as const

const KINDS = [
  // Faults of both sides. `interim`, `transfer`, `connection-close` and `keep-alive` do not change an answer that is
  // sent before the end of the request's body.
  /** `refuse` ends a connection of the storage at once, and of the service after the first line of a request. */
  fault(BOTH, 'refuse', { how: cut }),
  /** `drop` ends the connection after a request's head; with `reuse`, only if it served a request before. */
  fault(BOTH, 'drop', { point: z.enum(['headers', 'reuse']), how: cut }),
  /** `answer` sends this answer instead of the real answer. Nothing is carried out or stored. */
  fault(BOTH, 'answer', {
    status: statusBetween(200, 599),
    body: z.string().optional(),
    ...answerOptions,
  }),
  /** `redirect` leads to another path of the host (`same-host`), to the same address (`loop`) or to any address. */
  fault(BOTH, 'redirect', {
    status: statusBetween(300, 399),
    location: headerValue,
    ...{ point, ending },
  }),
  /**
   * `raw` sends bytes that are not HTTP, two final answers, or an answer that some programs can read and others cannot:
   * with lines that end without CR, a length beside chunks, a folded header, or a header of `bytes` bytes (default
   * 256 KiB). The storage carries the request out and sends its real answer in this way. The service carries nothing
   * out and sends `{}`.
   */
  fault(BOTH, 'raw', {
    what: z.enum([
      'garbage',
      'two-answers',
      'without-cr',
      'both-lengths',
      'folded-header',
      'oversized-headers',
    ]),
    bytes: z
      .int()
      .min(0)
      .max(64 * 2 ** 20)
      .optional(),
  }),
  /** `interim` sends an interim answer, which the client did not ask for, before the final answer. */
  fault(BOTH, 'interim', { status: z.literal([100, 102, 103]) }),
  /** `transfer` changes how the bytes of the answer's body are sent. */
  fault(BOTH, 'transfer', { how: z.enum(['chunked', 'gzip', 'byte-by-byte']) }),
  /** `connection-close` adds `Connection: close` to the answer. */
  fault(BOTH, 'connection-close', {}),
  /** `keep-alive` announces `Keep-Alive: timeout=seconds` and closes the idle connection after `closeAfterMs`. */
  fault(BOTH, 'keep-alive', { seconds: count, closeAfterMs: waitMs, how: cut.optional() }),
  /**
   * `gate` holds requests before the body is read (`headers`), after the body and before the request is carried out
   * (`end`), or after the request was carried out and before the answer (`answer`). `POST /_sandbox/faults/ID/release`
   * lets the held requests go on, and `DELETE /_sandbox/faults/ID` removes the gate; `Fault` has a method for each.
   * `GET /_sandbox/faults` counts the held requests. If the client of a held request closes the connection, the sandbox
   * goes on with the bytes that have arrived, so the upload can still be complete.
   */
  fault(BOTH, 'gate', { point: z.enum(['headers', 'end', 'answer']) }),

  // Faults of the service.
  /** `slow` delays the answer's head, sends its body slowly, or never answers. */
  fault(['service'], 'slow', {
    headersAfterMs: waitMs.optional(),
    bytesPerSecond: rate.optional(),
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
  /**
   * `date` adds `skewMs` to the service's clock, for the header Date of its answers and for the check of X-SVC-Date.
   * `ageSeconds` adds a header Age, and `omit` leaves the header Date out.
   */
  fault(['service'], 'date', {
    skewMs: shiftMs.optional(),
    ageSeconds: count.optional(),
    omit: z.boolean().optional(),
  }),
  /**
   * `commit-drop` carries the request out and loses the answer, so that the client cannot know the result. With
   * `afterMs`, the answer is lost first and the request is carried out `afterMs` later.
   */
  fault(['service'], 'commit-drop', { how: cutOrSilence, afterMs: waitMs.optional() }),
  /** `signature-mismatch` refuses a call with 401, as if its signature were wrong. */
  fault(['service'], 'signature-mismatch', {}),
  /** `form` issues an unusual form. The storage checks it like any other form. */
  fault(['service'], 'form', {
    /** lifetimeMs is negative for a form that has expired already. */
    lifetimeMs: shiftMs.optional(),
    /** tokenLifetimeMs is the lifetime of the security token, which can expire before the form. */
    tokenLifetimeMs: shiftMs.optional(),
    policy: z
      .enum(['not-base64', 'not-json', 'no-expiration', 'whole-seconds', 'with-newlines'])
      .optional(),
    /** sameKey repeats the object key of the previous form. */
    sameKey: z.boolean().optional(),
    successStatus: z.string().optional(),
    contentLengthRange: z
      .tuple([z.int(), z.int()], { error: expecting('two whole numbers') })
      .readonly()
      .optional(),
  }),

  // Faults of the storage. A negative `fileByte` counts from the end of the file.
  /** `gate-at-byte` is a gate after `fileByte` bytes of the file. */
  fault(['storage'], 'gate-at-byte', { fileByte: z.int() }),
  /** `drop-at-byte` ends the connection after `fileByte` bytes of the file. */
  fault(['storage'], 'drop-at-byte', { fileByte: z.int(), how: cut }),
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
    afterMs: waitMs.optional(),
  }),
  /** `throttle` limits how fast the storage reads the file. */
  fault(['storage'], 'throttle', { bytesPerSecond: rate }),
  /**
   * `stall` reads nothing for `ms` after `fileByte` bytes of the file. `afterwards` says what the storage does then.
   */
  fault(['storage'], 'stall', {
    fileByte: z.int(),
    ms: waitMs,
    afterwards: z.enum(['continue', 'request-timeout', 'rst']),
  }),
  /** `success` stores the object and sends an unexpected answer. */
  fault(['storage'], 'success', {
    status: statusBetween(200, 599).optional(),
    /** body `truncated` is half of the XML, with the length of the half. `cut` sends an RST after half of the XML. */
    body: z.enum(['xml', 'none', 'html', 'truncated', 'cut']).optional(),
    etag: z.enum(['wrong', 'opaque', 'missing', 'weak', 'unquoted']).optional(),
    checksum: z.literal('wrong').optional(),
    /** stored is true by default. With false, the storage reports a success but stores nothing. */
    stored: z.boolean().optional(),
  }),
] as const

export type FaultRule = z.infer<(typeof KINDS)[number]>
export type FaultKind = FaultRule['kind']
export type FaultOf<K extends FaultKind> = Extract<FaultRule, { kind: K }>
export type GatePoint = FaultOf<'gate'>['point']

/** FaultSubject is what the conditions of a rule look at in a request. */
export interface FaultSubject {
  route: string
  account: string | null
  key: string | null
  /** reused says that the connection served a request before. */
  reused: boolean
}

/** Stage says when faults are chosen: before a connection is served, or after a request's head or a form's fields. */
export type Stage = 'connect' | 'headers' | 'fields'

/** stageOf returns the stage at which a rule is chosen. */
export function stageOf(
  rule: Pick<FaultRule, 'kind' | 'at'> & { point?: string | undefined },
): Stage {
  if (rule.kind === 'refuse') return 'connect'
  if (rule.at === 'service' || rule.kind === 'drop') return 'headers'
  return rule.point === 'headers' ? 'headers' : 'fields'
}

const kinds = KINDS.map(({ shape }) => shape.kind.value).join(', ')
const RULES = z.array(
  z
    .discriminatedUnion('kind', KINDS, {
      error: ({ code }) => (code === 'invalid_union' ? `expected one of ${kinds}` : undefined),
    })
    .superRefine((rule, { addIssue }) => {
      if (rule.key === undefined || stageOf(rule) === 'fields') return
      const expected = `the fault ${rule.kind} is chosen before the key is known: leave out "key"`
      addIssue({ code: 'custom', path: ['key'], params: { expected } })
    }),
)

/**
 * parseFaults reads a rule or a list of rules from JSON text.
 * @throws FeedsyncError (64) that names the first wrong rule and its wrong key.
 */
export function parseFaults(json: string): FaultRule[] {
  return readJson(json, RULES, { what: 'faults', hint: 'docs/sandbox.md shows the faults' })
}

/** readFaults reads a rule or a list of rules from the body of a request. It refuses a wrong body with 400. */
export const readFaults = (body: Buffer): FaultRule[] => readBodyList(body, RULES, 'faults')
