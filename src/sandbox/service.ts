// The service's side of the sandbox: finds the route, plays the faults, authenticates, answers JSON. Written from
// specification sections 4 and 5; shares nothing with our client.

import { unescape as decodeSegment } from 'node:querystring'
import { type Authenticator, type ServiceRequest, WRONG_SIGNATURE } from './authentication.ts'
import { type ControlParts, control } from './control.ts'
import type { Answer, Exchange } from './exchange.ts'
import { rawBytes, replacedAnswer } from './fault-answers.ts'
import type { FaultOf } from './fault-types.ts'
import { type Route, type RouteAnswer, refusal } from './service-routes.ts'

export interface ServiceParts {
  /** Path of the base address, without a slash at its end; empty where there is none. */
  basePath: string
  routes: readonly Route[]
  authenticator: Authenticator
  control: ControlParts
  /** Sends the expected string to sign, in Base64, as the header `x-sandbox-string-to-sign`. */
  showStringToSign: boolean
}

export const CONTROL_PATH = '/_sandbox/'
const LARGEST_BODY = 1024 * 1024
const UNREADABLE = refusal(400, 'body-unreadable', 'the body is too long, or did not come whole')

export function createService(parts: ServiceParts) {
  const { basePath, routes, authenticator, showStringToSign } = parts

  return async (exchange: Exchange): Promise<void> => {
    const { body: reader, entry } = exchange
    const { method } = entry
    const [path = '', query = ''] = (exchange.request.url ?? '').split(/\?(.*)/s)
    if (path.startsWith(CONTROL_PATH)) {
      exchange.note({ route: 'control' })
      const body = (await reader.all(LARGEST_BODY)) ?? Buffer.alloc(0)
      const given = control(parts.control, method, path.slice(CONTROL_PATH.length), body)
      return exchange.answer(jsonAnswer(given, `${JSON.stringify(given.json, null, 2)}\n`))
    }

    const inside = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : ''
    const onPath = routes.filter((one) => one.path.test(inside))
    const route = onPath.find((one) => one.method === method)
    const header = (name: string) => exchange.header(name)
    const account = authenticator.claimedAccount({ header })
    if (!(await exchange.begin({ route: route?.name ?? 'unknown', account }))) return
    const { plan } = exchange

    const body = await reader.all(LARGEST_BODY)
    const slow = plan.get('slow')
    if (slow?.never) return exchange.gone
    if (slow?.headersAfterMs !== undefined) await exchange.sleep(slow.headersAfterMs)
    await exchange.pass('end')
    if (exchange.socket.destroyed) return
    if (body === null) return exchange.answerEarly(jsonAnswer(UNREADABLE))
    const raw = plan.get('raw')
    if (raw !== undefined) return exchange.answerRaw(rawBytes(raw))

    const request = { method, path: inside, query, body, header }
    const replaced = replacedAnswer(exchange)
    const answer =
      replaced?.answer ??
      (route !== undefined
        ? answerOf(exchange, route, request)
        : onPath.length > 0
          ? jsonAnswer(refusal(405, 'wrong-method', 'use another method'))
          : jsonAnswer(refusal(404, 'not-found', 'there is no such route')))
    await exchange.pass('answer')
    const lost = plan.get('commit-drop')
    if (lost !== undefined) return exchange.cut(lost.how)
    if (replaced?.ending !== undefined) return exchange.answerEarly(answer, replaced.ending)
    return exchange.answer(answer)
  }

  function answerOf(exchange: Exchange, route: Route, request: ServiceRequest): Answer {
    const { plan } = exchange
    const now = exchange.now()
    const caller =
      plan.get('signature-mismatch') === undefined
        ? authenticator.authenticate(request, route.audience, now)
        : WRONG_SIGNATURE
    let answer: Answer
    if ('json' in caller) answer = jsonAnswer(caller)
    else {
      const id = decodeSegment(route.path.exec(request.path)?.[1] ?? '')
      const given = route.answer({ caller, request, id, now, form: plan.get('form') })
      exchange.note({ account: caller.account, key: given.key ?? null })
      const odd = plan.get('json')
      answer = jsonAnswer(
        given,
        odd && ODD_JSON[odd.variant](JSON.stringify(given.json), given.json as Form),
      )
    }
    if (showStringToSign) {
      const expected = authenticator.stringToSign(request).toString('base64')
      answer.headers['x-sandbox-string-to-sign'] = expected
    }
    return answer
  }
}

function jsonAnswer({ status = 200, code, json }: RouteAnswer, text?: string): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: Buffer.from(text ?? JSON.stringify(json)), code: code ?? null }
}

type Form = { url?: string; fields?: Record<string, string> }

const ODD_JSON: Record<FaultOf<'json'>['variant'], (text: string, form: Form) => string> = {
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
