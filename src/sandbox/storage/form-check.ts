// This file checks the fields of a POST form, as S3 does before it reads the file: signature, token, policy, expiry,
// each condition, and no additional field.

import { BUCKET, FORM_ALGORITHM, type FormIssuer } from '../service/form-issuer.ts'
import { refuseAsS3 } from './s3-answer.ts'

export interface AcceptedForm {
  key: string
  /** minBytes and maxBytes are the sizes of the file that the policy allows. */
  minBytes: number
  maxBytes: number
  /** successStatus is the field `success_action_status` as text, or '' if the form does not have it. */
  successStatus: string
}

/** FormFields have names in lower case, because a condition matches the name of a field in any case. */
type FormFields = ReadonlyMap<string, string>

const AUTH_FIELDS = [
  'policy',
  'x-store-algorithm',
  'x-store-credential',
  'x-store-date',
  'x-store-signature',
]
/** LARGEST_OBJECT is in bytes: the 5 GiB that S3 accepts in one form. */
export const LARGEST_OBJECT = 5 * 2 ** 30
const LONGEST_KEY_BYTES = 1024

interface ArrivedForm {
  fields: FormFields
  /** filename is the file name that the file part gives, or null. */
  filename: string | null
}

/** checkForm returns what a form allows, and refuses a wrong form as S3 does. `now` is wall-clock ms. */
export function checkForm(
  { fields, filename }: ArrivedForm,
  issuer: FormIssuer,
  now: number,
): AcceptedForm {
  // S3 replaces the variable ${filename} before it reads the policy. Without a file name, the variable stays.
  const base = filename?.split(/[/\\]/).at(-1)
  const form = new Map(
    [...fields].map(([name, value]) => [
      name,
      base === undefined ? value : value.replace(/\$\{filename\}/g, () => base),
    ]),
  )
  checkPresence(form)
  checkCredential(form, issuer)
  const tokenEnd = issuer.tokenEnd(form.get('x-store-security-token') ?? '')
  if (tokenEnd === null) refuseAsS3({ code: 'InvalidToken' })
  if (tokenEnd <= now) refuseAsS3({ code: 'ExpiredToken' })
  return judgePolicy(form, now)
}

/** checkPresence refuses a form without one of the needed fields, and a key that is empty or too long. */
function checkPresence(form: FormFields): void {
  if (AUTH_FIELDS.every((name) => !form.has(name))) refuseAsS3({ code: 'AccessDenied' })
  const missing = ['key', ...AUTH_FIELDS].find((name) => !form.has(name))
  if (missing !== undefined) {
    refuseAsS3({
      code: 'InvalidArgument',
      message: `Bucket POST must contain a field named '${missing}'.  If it is specified, please check the order of the fields.`,
      details: { ArgumentName: missing, ArgumentValue: '' },
    })
  }
  const key = form.get('key') ?? ''
  if (key === '') refuseAsS3({ code: 'UserKeyMustBeSpecified' })
  if (Buffer.byteLength(key) > LONGEST_KEY_BYTES) refuseAsS3({ code: 'KeyTooLongError' })
}

/** checkCredential refuses a form that `issuer` has not signed. */
function checkCredential(form: FormFields, issuer: FormIssuer): void {
  const get = (name: string) => form.get(name) ?? ''
  if (get('x-store-algorithm') !== FORM_ALGORITHM) {
    refuseAsS3({
      code: 'InvalidArgument',
      message: `x-store-algorithm only supports "${FORM_ALGORITHM}"`,
      details: { ArgumentName: 'x-store-algorithm' },
    })
  }
  const credential = get('x-store-credential')
  const [accessKeyId, day = ''] = credential.split('/')
  if (accessKeyId !== issuer.accessKeyId) refuseAsS3({ code: 'InvalidAccessKeyId' })
  if (credential !== issuer.credential(day) || !/^\d{8}$/.test(day)) {
    refuseAsS3({ code: 'InvalidArgument', message: 'the Credential is mal-formed' })
  }
  const isSigned = issuer.sign(get('policy'), day) === get('x-store-signature')
  if (!isSigned) refuseAsS3({ code: 'SignatureDoesNotMatch' })
}

/** judgePolicy refuses a form that breaks its own policy, and returns what the policy allows. */
function judgePolicy(form: FormFields, now: number): AcceptedForm {
  const invalid = (why: string): never =>
    refuseAsS3({ code: 'InvalidPolicyDocument', message: `Invalid Policy: ${why}` })
  const denied = (why: string): never =>
    refuseAsS3({ code: 'AccessDenied', message: `Invalid according to Policy: ${why}` })
  let policy: { expiration?: unknown; conditions?: unknown }
  try {
    policy = JSON.parse(Buffer.from(form.get('policy') ?? '', 'base64').toString('utf8'))
  } catch {
    return invalid('Invalid JSON.')
  }
  const { expiration, conditions } = policy
  if (expiration === undefined) invalid('Policy missing expiration.')
  if (!Array.isArray(conditions)) return invalid('Policy missing conditions.')
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(expiration))
  const expiresAt = isTime ? Date.parse(String(expiration)) : Number.NaN
  if (Number.isNaN(expiresAt)) invalid(`Invalid 'expiration' value: '${expiration}'`)
  if (expiresAt <= now) denied('Policy expired.')

  const namesInPolicy = new Set(['policy', 'x-store-signature', 'file'])
  let [minBytes, maxBytes] = [0, LARGEST_OBJECT]
  for (const [operator, left, right] of conditions.flatMap(unfold)) {
    if (operator === 'content-length-range') {
      minBytes = Number(left)
      maxBytes = Math.min(maxBytes, Number(right))
      continue
    }
    const name = String(left).replace(/^\$/, '').toLowerCase()
    const wanted = String(right)
    const value = name === 'bucket' ? BUCKET : form.get(name)
    const holds =
      operator === 'eq'
        ? value === wanted
        : operator === 'starts-with' && (value?.startsWith(wanted) ?? false)
    if (!holds) denied(`Policy Condition failed: ["${operator}", "$${name}", "${wanted}"]`)
    namesInPolicy.add(name)
  }
  const extra = [...form.keys()].filter(
    (name) => !namesInPolicy.has(name) && !name.startsWith('x-ignore-'),
  )
  if (extra.length > 0) denied(`Extra input fields: ${extra.join(', ')}`)
  const key = form.get('key') ?? ''
  return { key, minBytes, maxBytes, successStatus: form.get('success_action_status') ?? '' }
}

/** unfold turns `{ "key": "a" }` into `["eq", "key", "a"]`. A condition that is a list stays as it is. */
function unfold(condition: unknown): [operator: string, left: unknown, right: unknown][] {
  if (Array.isArray(condition)) {
    const [operator, left, right] = condition
    return [[String(operator).toLowerCase(), left, right]]
  }
  return Object.entries(condition as object).map(([name, value]) => ['eq', name, value])
}
