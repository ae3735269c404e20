// Owns the four campaign calls of the service (specification section 4) and the meaning of each answer. It repeats a
// read if that can help; each write is one request.

import { commandFor, hintWith } from '../../domain/command.ts'
import { MINUTE, SECOND } from '../../lib/clock.ts'
import type { HttpAnswer } from '../../lib/http.ts'
import { noAnswerText } from '../../lib/http-errors.ts'
import { retryAfterMs } from '../../lib/http-text.ts'
import { fullJitter, retry } from '../../lib/retry.ts'
import { ServiceClient, type ServiceOptions } from '../../service/client.ts'
import { readAnswer, serviceMessage, Unusable } from '../../service/json-answer.ts'
import { keyAdvice } from '../../service/key-file.ts'
import { isUsableId, readCampaign, readPage } from './campaign-answer.ts'
import type {
  CampaignAnswer,
  CampaignApi,
  CampaignCreate,
  CampaignFailure,
  CampaignQuery,
} from './port.ts'

const PATH = '/v1/campaigns'
/** A page of a thousand campaigns is about 500 kB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const TRIES = 4
const WAITS = { baseMs: SECOND, capMs: MINUTE }
/**
 * With these statuses the service did not carry out the call. For 408, 409, 429 and 5xx no document promises this: a
 * 409 can be a conflict with an earlier try that arrived.
 */
const REFUSED = new Set([400, 401, 403, 404, 405, 410, 413, 415, 422])
const isTemporary = (status: number) =>
  status === 408 || status === 425 || status === 429 || status === 407 || status >= 500

const CREATE_FIELDS = [
  'name',
  'startDate',
  'endDate',
  'autoBidLevel',
  'cpc',
  'maxCpc',
  'paidCpaGoal',
  'budget',
  'period',
  'targeting',
  'status',
] as const satisfies readonly (keyof CampaignCreate)[]
/** The documented body of an update has no `startDate` and no `period`. */
const UPDATE_FIELDS = CREATE_FIELDS.filter((field) => field !== 'startDate' && field !== 'period')

type FailureText = Omit<CampaignFailure, 'kind' | 'effect' | 'status' | 'retryAfterMs'>

const HOW_TO_LIST = hintWith(
  'list the campaigns that this account has',
  commandFor('campaigns search'),
)
const unsent = (rest: FailureText): CampaignFailure => {
  const none = { status: null, retryAfterMs: null }
  return { kind: 'failure', effect: 'not-sent', ...none, ...rest }
}
const NO_ACCOUNT = unsent({
  class: 'configuration',
  reason: 'no partner account: service.partner is set, but service.partnerAccount is not',
  hint: 'set service.partnerAccount: each campaign call acts for one account of the partner',
})
const NO_SUCH_ID = unsent({
  class: 'missing',
  reason: 'no campaign can have this id: it would name another route of the service',
  hint: HOW_TO_LIST,
})

/**
 * createCampaignApi returns the campaign calls of the service. Throws `FeedsyncError` (78) if the key cannot be used.
 */
export function createCampaignApi(options: ServiceOptions): CampaignApi {
  const client = new ServiceClient(options)
  const once = async <T>(
    call: { method: string; id?: string; query?: string; body?: object },
    read: (body: Buffer) => T,
    signal: AbortSignal,
  ): Promise<CampaignAnswer<T>> => {
    const { method, id, query = '' } = call
    if (id !== undefined && !isUsableId(id)) return NO_SUCH_ID
    // The bulk route needs no account. Ask with a path without the id, so that no id is taken for the bulk route.
    if (client.lacksAccount(PATH, null)) return NO_ACCOUNT
    const body = call.body === undefined ? null : Buffer.from(JSON.stringify(call.body))
    const answer = await client.call(
      {
        method,
        path: PATH + (id === undefined ? query : `/${encodeURIComponent(id)}`),
        body,
        account: null,
        maxAnswerBytes: MAX_ANSWER_BYTES,
        // If the other side just closed a kept connection, the outcome of a write would be unknown.
        freshConnection: method !== 'GET',
      },
      signal,
    )
    return answerOf(answer, read, options)
  }
  const repeated: typeof once = (call, read, signal) =>
    retry(() => once(call, read, signal), waitAfter, { clock: options.clock, signal, tries: TRIES })
  return {
    clockSkewMs: () => client.clockSkewMs(),
    search: (query, signal) =>
      repeated({ method: 'GET', query: queryText(query) }, readPage, signal),
    get: (id, signal) => repeated({ method: 'GET', id }, (body) => readCampaign(body, id), signal),
    create: (body, signal) =>
      once({ method: 'POST', body: pick(body, CREATE_FIELDS) }, readCampaign, signal),
    update: (id, body, signal) =>
      once(
        { method: 'PUT', id, body: pick(body, UPDATE_FIELDS) },
        (answer) => readCampaign(answer, id),
        signal,
      ),
  }
}

/** pick keeps the documented fields, in the order of the specification: nothing else leaves this machine. */
function pick<T extends object>(body: T, fields: readonly (keyof T)[]): object {
  return Object.fromEntries(
    fields.flatMap((field) => (body[field] === undefined ? [] : [[field, body[field]]])),
  )
}

function queryText({ status, name, start, num }: CampaignQuery): string {
  const given = Object.entries({ Status: status, Name: name, Start: start, Num: num })
  // URLSearchParams writes a space as "+", which some servers read as a plus sign.
  const text = given
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`]))
    .join('&')
  return text === '' ? '' : `?${text}`
}

/** waitAfter returns the wait before the next try in ms; null if there is no other try. `tries` were made so far. */
function waitAfter(answer: CampaignAnswer<unknown>, tries: number): number | null {
  if (answer.kind === 'ok' || answer.class !== 'temporary') return null
  const leastMs = answer.retryAfterMs ?? 0
  return leastMs > WAITS.capMs ? null : Math.max(leastMs, fullJitter(WAITS, tries - 1, Math.random))
}

/** answerOf says what an HTTP answer means: the value that `read` finds in a success, or a failure. */
function answerOf<T>(
  answer: HttpAnswer,
  read: (body: Buffer) => T,
  { clock, auth }: ServiceOptions,
): CampaignAnswer<T> {
  if (answer.kind === 'no-answer') {
    const canHaveArrived = !['unreachable', 'certificate', 'proxy', 'source'].includes(answer.why)
    const reason = noAnswerText('the service', answer)
    const hint = 'check service.baseUrl and the connection, and try again later'
    const effect = canHaveArrived ? 'unknown' : 'not-sent'
    return { ...unsent({ class: 'temporary', reason, hint }), effect }
  }
  const { status, headers } = answer
  const refused: CampaignFailure = {
    kind: 'failure',
    class: 'refused',
    status,
    retryAfterMs: null,
    effect: REFUSED.has(status) ? 'refused' : status === 407 ? 'not-sent' : 'unknown',
    reason: `the service answered ${status}${serviceMessage(answer)}`,
    hint: 'correct what the service names, and try again',
  }
  if (status >= 200 && status < 300) {
    const value = readAnswer(answer, read)
    if (!(value instanceof Unusable)) return { kind: 'ok', value }
    const reason = `the service answered ${status} with ${value.message}`
    const hint = 'check that service.baseUrl names the service, not a login or proxy page'
    return { ...refused, class: 'unreadable', reason, hint }
  }
  if (status === 401 || status === 403) {
    const hint = `${keyAdvice(auth.keyFile)}; check service.auth and the account or partner`
    return { ...refused, class: 'credentials', hint }
  }
  // 410 means that the campaign is gone for good, so no retry.
  if (status === 404 || status === 410) return { ...refused, class: 'missing', hint: HOW_TO_LIST }
  if (!isTemporary(status)) return refused
  const wait = retryAfterMs(headers, clock.now())
  return { ...refused, class: 'temporary', retryAfterMs: wait, hint: 'try again later' }
}
