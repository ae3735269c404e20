// Judges the fields of a POST form as S3 does before it takes the file: signature, token, policy,
// expiry, each condition, no field too many.

import type { S3Error } from './s3-errors.ts'
import { FORM_ALGORITHM, type StorageKeys } from './storage-keys.ts'

export interface AcceptedForm {
  key: string
  /** Bytes of the file that the policy allows. */
  minBytes: number
  maxBytes: number
  successStatus: string
}

export type FormVerdict = { kind: 'ok'; form: AcceptedForm } | { kind: 'refused'; error: S3Error }

const AUTH_FIELDS = [
  'policy',
  'x-store-algorithm',
  'x-store-credential',
  'x-store-date',
  'x-store-signature',
]
const LARGEST_OBJECT = 5 * 2 ** 30
const LONGEST_KEY_BYTES = 1024

interface Policy {
  expiresAt: number
  conditions: unknown[]
}

/**
 * `fields`: names in lower case, since conditions match in any case. `filename`: that of the file
 * part, null where it has none. `now`: wall ms.
 */
export function checkForm(
  fields: ReadonlyMap<string, string>,
  filename: string | null,
  bucket: string,
  keys: StorageKeys,
  now: number,
): FormVerdict {
  const form = expandFilename(fields, filename)
  const error =
    missingField(form) ?? wrongSignature(form, keys) ?? wrongToken(form, keys, now) ?? null
  if (error !== null) return { kind: 'refused', error }
  const policy = readPolicy(form.get('policy') ?? '')
  if ('code' in policy) return { kind: 'refused', error: policy }
  return judgePolicy(form, bucket, policy, now)
}

function missingField(form: ReadonlyMap<string, string>): S3Error | undefined {
  if (AUTH_FIELDS.every((name) => !form.has(name))) return { code: 'AccessDenied' }
  const missing = ['key', ...AUTH_FIELDS].find((name) => !form.has(name))
  if (missing !== undefined) {
    return {
      code: 'InvalidArgument',
      message: `Bucket POST must contain a field named '${missing}'.  If it is specified, please check the order of the fields.`,
      details: { ArgumentName: missing, ArgumentValue: '' },
    }
  }
  const key = form.get('key') ?? ''
  if (key === '') return { code: 'UserKeyMustBeSpecified' }
  return Buffer.byteLength(key) > LONGEST_KEY_BYTES ? { code: 'KeyTooLongError' } : undefined
}

function wrongSignature(form: ReadonlyMap<string, string>, keys: StorageKeys): S3Error | undefined {
  const get = (name: string) => form.get(name) ?? ''
  if (get('x-store-algorithm') !== FORM_ALGORITHM) {
    return {
      code: 'InvalidArgument',
      message: `x-store-algorithm only supports "${FORM_ALGORITHM}"`,
      details: { ArgumentName: 'x-store-algorithm' },
    }
  }
  const credential = keys.readCredential(get('x-store-credential'))
  switch (credential.kind) {
    case 'unknown-key':
      return { code: 'InvalidAccessKeyId' }
    case 'malformed':
      return { code: 'InvalidArgument', message: 'the Credential is mal-formed' }
    case 'day':
      return keys.verifies(get('policy'), credential.day, get('x-store-signature'))
        ? undefined
        : { code: 'SignatureDoesNotMatch' }
    default:
      return credential satisfies never
  }
}

function wrongToken(
  form: ReadonlyMap<string, string>,
  keys: StorageKeys,
  now: number,
): S3Error | undefined {
  const token = keys.readToken(form.get('x-store-security-token') ?? '')
  if (token.kind === 'invalid') return { code: 'InvalidToken' }
  return token.expiresAt <= now ? { code: 'ExpiredToken' } : undefined
}

function readPolicy(base64: string): Policy | S3Error {
  const invalid = (why: string): S3Error => ({
    code: 'InvalidPolicyDocument',
    message: `Invalid Policy: ${why}`,
  })
  let policy: unknown
  try {
    policy = JSON.parse(Buffer.from(base64, 'base64').toString('utf8'))
  } catch {
    return invalid('Invalid JSON.')
  }
  const { expiration, conditions } = policy as { expiration?: unknown; conditions?: unknown }
  if (expiration === undefined) return invalid('Policy missing expiration.')
  if (!Array.isArray(conditions)) return invalid('Policy missing conditions.')
  const expiresAt = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(expiration))
    ? Date.parse(String(expiration))
    : Number.NaN
  if (Number.isNaN(expiresAt)) return invalid(`Invalid 'expiration' value: '${expiration}'`)
  return { expiresAt, conditions }
}

function judgePolicy(
  form: ReadonlyMap<string, string>,
  bucket: string,
  policy: Policy,
  now: number,
): FormVerdict {
  const denied = (why: string): FormVerdict => ({
    kind: 'refused',
    error: { code: 'AccessDenied', message: `Invalid according to Policy: ${why}` },
  })
  if (policy.expiresAt <= now) return denied('Policy expired.')
  const named = new Set(['policy', 'x-store-signature', 'file'])
  let [minBytes, maxBytes] = [0, LARGEST_OBJECT]
  for (const condition of policy.conditions.flatMap(unfold)) {
    if (condition.operator === 'content-length-range') {
      minBytes = Number(condition.operands[0])
      maxBytes = Math.min(maxBytes, Number(condition.operands[1]))
      continue
    }
    const name = String(condition.operands[0]).replace(/^\$/, '').toLowerCase()
    const wanted = String(condition.operands[1])
    const value = name === 'bucket' ? bucket : form.get(name)
    const holds =
      condition.operator === 'eq'
        ? value === wanted
        : condition.operator === 'starts-with' && (value?.startsWith(wanted) ?? false)
    if (!holds) {
      return denied(`Policy Condition failed: ["${condition.operator}", "$${name}", "${wanted}"]`)
    }
    named.add(name)
  }
  const extra = [...form.keys()].filter((name) => !named.has(name) && !name.startsWith('x-ignore-'))
  if (extra.length > 0) return denied(`Extra input fields: ${extra.join(', ')}`)
  return {
    kind: 'ok',
    form: {
      key: form.get('key') ?? '',
      minBytes,
      maxBytes,
      successStatus: form.get('success_action_status') ?? '',
    },
  }
}

/** `{ "key": "a" }` is `["eq", "$key", "a"]`. */
function unfold(condition: unknown): { operator: string; operands: unknown[] }[] {
  if (Array.isArray(condition)) {
    return [{ operator: String(condition[0]).toLowerCase(), operands: condition.slice(1) }]
  }
  return Object.entries(condition as Record<string, unknown>).map(([name, value]) => ({
    operator: 'eq',
    operands: [name, value],
  }))
}

/** S3 puts the file's own name for `${filename}` before it reads the policy; without a name it stays. */
function expandFilename(
  fields: ReadonlyMap<string, string>,
  filename: string | null,
): ReadonlyMap<string, string> {
  if (filename === null) return fields
  const base = filename.split(/[/\\]/).at(-1) ?? ''
  return new Map(
    [...fields].map(([name, value]) => [name, value.replace(/\$\{filename\}/g, () => base)]),
  )
}
