// Reads fault rules from JSON: one rule, or a list of them. Checks each against the closed set, so
// that a misspelt fault is an error and not a fault that never comes.

import { FeedsyncError, messageOf } from '../lib/errors.ts'
import type { FaultKind, FaultRule, Side } from './fault-types.ts'
import { S3_CODES } from './s3-errors.ts'

type Check =
  | 'number'
  | 'string'
  | 'boolean'
  | 'texts'
  | 'retry-after'
  | 'range'
  | readonly unknown[]
type Shape = Record<string, Check>

const CUT: Check = ['fin', 'rst']
const EARLY: Shape = {
  'point?': ['headers', 'fields', 'middle', 'end'],
  'ending?': ['drain', 'destroy', 'hold', 'cut'],
}
const ANSWER: Shape = { 'headers?': 'texts', 'retryAfter?': 'retry-after', ...EARLY }
const SERVICE: readonly Side[] = ['service']
const STORAGE: readonly Side[] = ['storage']
const BOTH: readonly Side[] = ['service', 'storage']

const SHAPES: Record<FaultKind, readonly [at: readonly Side[], shape: Shape]> = {
  refuse: [BOTH, { how: CUT }],
  drop: [BOTH, { point: ['headers', 'reuse'], how: CUT }],
  answer: [BOTH, { status: 'number', 'body?': 'string', ...ANSWER }],
  redirect: [BOTH, { status: 'number', location: 'string', ...EARLY }],
  raw: [BOTH, { what: ['garbage', 'two-answers', 'oversized-headers'], 'bytes?': 'number' }],
  interim: [BOTH, { status: [100, 102, 103] }],
  transfer: [BOTH, { how: ['chunked', 'gzip', 'byte-by-byte'] }],
  'connection-close': [BOTH, {}],
  'keep-alive': [BOTH, { seconds: 'number', closeAfterMs: 'number', 'how?': CUT }],
  gate: [BOTH, { point: ['headers', 'end', 'answer'] }],
  'gate-at-byte': [STORAGE, { fileByte: 'number' }],
  slow: [
    SERVICE,
    { 'headersAfterMs?': 'number', 'bytesPerSecond?': 'number', 'never?': 'boolean' },
  ],
  json: [
    SERVICE,
    {
      variant: ['truncated', 'invalid', 'empty', 'empty-object', 'no-url', 'no-key', 'more-fields'],
    },
  ],
  date: [SERVICE, { 'skewMs?': 'number', 'ageSeconds?': 'number', 'omit?': 'boolean' }],
  'commit-drop': [SERVICE, { how: ['fin', 'rst', 'silence'] }],
  'signature-mismatch': [SERVICE, {}],
  form: [
    SERVICE,
    {
      'lifetimeMs?': 'number',
      'tokenLifetimeMs?': 'number',
      'policy?': ['not-base64', 'not-json', 'no-expiration', 'whole-seconds', 'with-newlines'],
      'sameKey?': 'boolean',
      'successStatus?': 'string',
      'contentLengthRange?': 'range',
    },
  ],
  'drop-at-byte': [STORAGE, { fileByte: 'number', how: CUT }],
  's3-error': [
    STORAGE,
    {
      code: S3_CODES,
      'message?': 'string',
      'details?': 'texts',
      'style?': ['plain', 'bom', 'namespace', 'cdata', 'entities', 'huge', 'truncated'],
      ...ANSWER,
    },
  ],
  'lose-answer': [STORAGE, { stored: 'boolean', how: ['fin', 'rst', 'silence'] }],
  throttle: [STORAGE, { bytesPerSecond: 'number' }],
  stall: [
    STORAGE,
    { fileByte: 'number', ms: 'number', afterwards: ['continue', 'request-timeout', 'rst'] },
  ],
  success: [
    STORAGE,
    {
      'status?': 'number',
      'body?': ['xml', 'none', 'html', 'truncated', 'cut'],
      'etag?': ['wrong', 'opaque', 'missing', 'weak', 'unquoted'],
      'checksum?': ['wrong'],
      'stored?': 'boolean',
    },
  ],
}

const CONDITIONS: Shape = {
  'times?': 'number',
  'after?': 'number',
  'every?': 'number',
  'percent?': 'number',
  'seed?': 'number',
  'route?': 'string',
  'account?': 'string',
  'key?': 'string',
}

/** Throws `FeedsyncError` that names the first rule and key that are wrong. */
export function parseFaults(json: string): FaultRule[] {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw wrong(`the faults are not JSON: ${messageOf(error)}`)
  }
  return (Array.isArray(value) ? value : [value]).map((rule, i) => checked(rule, `faults[${i}]`))
}

function checked(value: unknown, at: string): FaultRule {
  if (typeof value !== 'object' || value === null) throw wrong(`${at}: expected an object`)
  const rule = value as Record<string, unknown>
  const known = Object.hasOwn(SHAPES, String(rule.kind)) ? SHAPES[rule.kind as FaultKind] : null
  if (known === null) {
    throw wrong(`${at}.kind: expected one of ${Object.keys(SHAPES).join(', ')}`)
  }
  const [sides, fields] = known
  const shape: Shape = { at: sides, kind: 'string', ...fields, ...CONDITIONS }
  for (const name of Object.keys(rule)) {
    if (!(name in shape) && !(`${name}?` in shape)) throw wrong(`${at}.${name}: unknown key`)
  }
  for (const [entry, check] of Object.entries(shape)) {
    const name = entry.replace('?', '')
    if (rule[name] === undefined && entry.endsWith('?')) continue
    if (!passes(rule[name], check)) throw wrong(`${at}.${name}: expected ${expectation(check)}`)
  }
  return rule as unknown as FaultRule
}

function passes(value: unknown, check: Check): boolean {
  if (typeof check !== 'string') return check.includes(value)
  switch (check) {
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === check
    case 'texts':
      return isRecord(value) && Object.values(value).every((text) => typeof text === 'string')
    case 'retry-after':
      return typeof value === 'string' || (isRecord(value) && typeof value.dateInMs === 'number')
    case 'range':
      return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger)
    default:
      return check satisfies never
  }
}

function expectation(check: Check): string {
  if (typeof check !== 'string') return `one of ${check.join(', ')}`
  return (
    { texts: 'an object of texts', range: 'two whole numbers' }[check as string] ?? `a ${check}`
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function wrong(message: string): FeedsyncError {
  return new FeedsyncError(message, {
    hint: 'compare the faults with src/sandbox/fault-types.ts',
    exitCode: 64,
  })
}
