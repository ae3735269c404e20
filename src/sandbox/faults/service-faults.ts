// This file is a layer around the service that plays its faults: the service carries calls out, and the layer delays,
// loses, replaces or damages the answers.

import { type Answer, refusalAsAnswer } from '../http/answer.ts'
import type { Exchange, Screen } from '../http/exchange.ts'
import { refuseSignature } from '../service/authentication.ts'
import type { ArrivedCall, CallHeaders } from '../service/call.ts'
import type { FormIssuer, FormSettings, Policy } from '../service/form-issuer.ts'
import type { Service } from '../service/service.ts'
import { rawBytes } from './fault-answers.ts'
import type { FaultOf } from './fault-types.ts'
import type { FaultBook } from './faults.ts'
import { Played } from './played.ts'

interface ServiceFaultParts {
  service: Service
  issuer: FormIssuer
  faults: FaultBook
  callOf: (exchange: Exchange) => Omit<ArrivedCall, 'body'>
  /** accountOf returns the account that the headers name, before any proof, or null. */
  accountOf: (call: CallHeaders) => string | null
  /** largestBody returns the most bytes that a body can have. */
  largestBody: () => number
}

/** CONTROL matches the first line of a request to the page or to a control route, which meet no fault. */
const CONTROL = /^\w+ (?:http:\/\/[^/ ]*)?\/(?:[? ]|_sandbox\/)/

/** serviceScreen plays the fault `refuse`, and lets control routes pass. It returns null without this fault. */
export function serviceScreen(faults: FaultBook): Screen | null {
  if (!faults.has('service', 'refuse')) return null
  const judge = (line: string) => (CONTROL.test(line) ? null : faults.chooseRefusal('service'))
  return { isPatient: true, judge }
}

/** withServiceFaults returns a function that has the service answer a request, and plays the faults of the request. */
export function withServiceFaults(parts: ServiceFaultParts) {
  const { service, issuer, faults, callOf, accountOf, largestBody } = parts

  return async (exchange: Exchange): Promise<void> => {
    const arrived = callOf(exchange)
    const played = new Played(exchange, faults)
    const route = service.routeOf(arrived.method, arrived.path)
    await played.begin({ route, account: accountOf(arrived) })
    const body = await exchange.wholeBody(largestBody())
    const slow = played.fault('slow')
    if (slow?.never) await exchange.cut('silence')
    if (slow?.headersAfterMs !== undefined) await exchange.sleep(slow.headersAfterMs)
    await played.waitAtGate('end')
    if (exchange.socket.destroyed) return
    const raw = played.fault('raw')
    if (raw !== undefined) return exchange.answerRaw(rawBytes(raw))

    const carryOut = async (): Promise<Answer> => {
      exchange.checkRun()
      if (played.fault('signature-mismatch') !== undefined) {
        return refusalAsAnswer(() => refuseSignature())
      }
      const call = { ...arrived, body, now: exchange.now() }
      const form = played.fault('form')
      const settings = form === undefined ? {} : formSettings(form, issuer.lastKey)
      const { answer, account, key } = await service.serve(call, settings)
      exchange.update({ ...(account !== null && { account }), key })
      return answer
    }
    const lost = played.fault('commit-drop')
    if (lost?.afterMs !== undefined) {
      await played.cutAndWait(lost.how, lost.afterMs)
      await carryOut()
      return
    }
    const answer = played.replacement() ?? damaged(await carryOut(), played.fault('json'))
    await played.waitAtGate('answer')
    if (lost !== undefined) return exchange.cut(lost.how)
    return exchange.answer(answer)
  }
}

/** formSettings returns what the fault `form` changes in a form. `lastKey` is the key of the form before. */
function formSettings(fault: FaultOf<'form'>, lastKey: string | null): Partial<FormSettings> {
  const { lifetimeMs, tokenLifetimeMs, successStatus, contentLengthRange, policy } = fault
  return {
    ...(lifetimeMs !== undefined && { lifetimeMs }),
    ...(tokenLifetimeMs !== undefined && { tokenLifetimeMs }),
    ...(successStatus !== undefined && { successStatus }),
    ...(contentLengthRange !== undefined && { contentLengthRange }),
    ...(fault.sameKey && lastKey !== null && { key: lastKey }),
    ...(policy !== undefined && { encodePolicy: POLICIES[policy] }),
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

const POLICIES: Record<NonNullable<FaultOf<'form'>['policy']>, (policy: Policy) => string> = {
  'not-base64': () => '%%% this is not Base64 %%%',
  'not-json': (policy) => base64(JSON.stringify(policy).slice(0, 15)),
  'no-expiration': ({ conditions }) => base64(JSON.stringify({ conditions })),
  'whole-seconds': ({ expiration, conditions }) =>
    base64(JSON.stringify({ expiration: expiration.replace(/\.\d+/, ''), conditions })),
  'with-newlines': (policy) => base64(JSON.stringify(policy)).replace(/.{76}/g, '$&\n'),
}

type ChangedForm = { url?: string; fields?: Record<string, string> }

/** damaged changes the JSON of a success as the fault `json` says. It leaves all other answers as they are. */
function damaged(answer: Answer, fault: FaultOf<'json'> | undefined): Answer {
  if (fault === undefined || answer.code !== null) return answer
  const text = answer.body.toString('utf8')
  return { ...answer, body: Buffer.from(JSON_VARIANTS[fault.variant](text, JSON.parse(text))) }
}

const JSON_VARIANTS: Record<
  FaultOf<'json'>['variant'],
  (text: string, form: ChangedForm) => string
> = {
  truncated: (text) => text.slice(0, text.length >> 1),
  invalid: (text) => `${text.slice(0, -1)},]`,
  empty: () => '',
  'empty-object': () => '{}',
  'no-url': (_, form) => JSON.stringify({ ...form, url: undefined }),
  'no-key': (_, form) => JSON.stringify({ ...form, fields: { ...form.fields, key: undefined } }),
  'more-fields': (_, form) => {
    const fields = { 'x-ignore-note': 'line one\nline "two" – ünïcode', ...form.fields }
    return JSON.stringify({ requestId: 'a "new" field', ...form, fields })
  },
}
