// The service's side of the sandbox: finds the route, plays the faults, authenticates, answers JSON.
// Written from specification sections 4 and 5 and service-facts; shares nothing with our client.

import type { Authenticator, ServiceRequest } from './authentication.ts'
import type { Control } from './control.ts'
import {
  type Answer,
  answer,
  answerEarly,
  answerRaw,
  cut,
  type Exchange,
  header,
  passGate,
  silence,
  subjectOf,
} from './exchange.ts'
import { rawBytes, replacedAnswer } from './fault-answers.ts'
import type { ServiceFault } from './fault-types.ts'
import type { FaultBook, Plan } from './faults.ts'
import type { RouteAnswer, RouteTable } from './service-routes.ts'

export interface ServiceParts {
  /** Path of the base address, without a slash at its end; empty where there is none. */
  basePath: string
  routes: RouteTable
  authenticator: Authenticator
  faults: FaultBook
  control: Control
  /** Sends the expected string to sign, in Base64, as the header `x-sandbox-string-to-sign`. */
  showStringToSign: boolean
}

const LARGEST_BODY = 1024 * 1024

const UNREADABLE = refusal(400, 'body-unreadable', 'the body is too long, or did not come whole')

type Found = ReturnType<RouteTable['find']>

export class Service {
  readonly #parts: ServiceParts

  constructor(parts: ServiceParts) {
    this.#parts = parts
  }

  readonly handle = async (exchange: Exchange): Promise<void> => {
    const { request, entry, journal, clock, signal, reader } = exchange
    const { basePath, routes, authenticator, faults, control } = this.#parts
    const [path = '', query = ''] = split(request.url ?? '')
    if (control.owns(path)) return control.handle(exchange, path)

    const inside = path.startsWith(`${basePath}/`)
    const found = inside ? routes.find(entry.method, path.slice(basePath.length)) : null
    const get = (name: string) => header(exchange, name)
    journal.update(entry, {
      route: typeof found === 'object' && found !== null ? found.route.name : 'unknown',
      account: authenticator.claimedAccount({ header: get }),
    })
    const plan = faults.plan('service', 'headers', subjectOf(exchange))
    journal.update(entry, { faults: plan.kinds })
    const drop = plan.get('drop')
    if (drop !== undefined) return cut(exchange, drop.how)

    await passGate(exchange, plan.gate('headers'))
    const body = await reader.all(LARGEST_BODY)
    const slow = plan.get('slow')
    if (slow?.never) return silence(exchange)
    if (slow?.headersAfterMs !== undefined) await clock.sleep(slow.headersAfterMs, signal)
    await passGate(exchange, plan.gate('end'))
    if (exchange.socket.destroyed) return
    if (body === null) return answerEarly(exchange, UNREADABLE, 'drain')
    journal.update(entry, { bytes: body.length })

    const raw = plan.get('raw')
    if (raw !== undefined) return answerRaw(exchange, rawBytes(raw))
    const call = {
      method: entry.method,
      path: path.slice(basePath.length),
      query,
      body,
      header: get,
    }
    const date = plan.get('date')
    const now = () => clock.now() + (date?.skewMs ?? 0)
    const replaced = replacedAnswer(plan, now(), `http://${get('host')}${path}`)
    const what = replaced?.answer ?? this.#answer(exchange, found, call, plan, now())
    await passGate(exchange, plan.gate('answer'))
    const lost = plan.get('commit-drop')?.how
    if (lost === 'silence') return silence(exchange)
    if (lost !== undefined) return cut(exchange, lost)
    const dated = { ...what, headers: { ...dateHeaders(date, now()), ...what.headers } }
    if (replaced?.ending != null) return answerEarly(exchange, dated, replaced.ending)
    return answer(exchange, dated, plan)
  }

  #answer(
    exchange: Exchange,
    found: Found,
    request: ServiceRequest,
    plan: Plan,
    now: number,
  ): Answer {
    const { authenticator, showStringToSign } = this.#parts
    if (found === null) return refusal(404, 'not-found', 'there is no such route')
    if (found === 'wrong-method') return refusal(405, 'wrong-method', 'use another method')
    const { route, params } = found
    const debug: Record<string, string> = showStringToSign
      ? { 'x-sandbox-string-to-sign': authenticator.stringToSign(request).toString('base64') }
      : {}
    const who = plan.get('signature-mismatch')
      ? ({
          kind: 'refused',
          status: 401,
          code: 'signature-mismatch',
          message: 'the signature does not match the request',
        } as const)
      : authenticator.authenticate(request, route.audience, now)
    if (who.kind === 'refused') return refusal(who.status, who.code, who.message, debug)

    const given = route.answer({
      caller: who.caller,
      request,
      params,
      now,
      twist: plan.get('form'),
    })
    const { journal, entry } = exchange
    journal.update(entry, { account: who.caller.account, key: given.key ?? null })
    const variant = plan.get('json')?.variant
    return {
      status: given.status ?? 200,
      headers: { 'content-type': 'application/json; charset=utf-8', ...debug },
      body: Buffer.from(twisted(given, variant)),
      code: null,
    }
  }
}

function twisted(
  { json }: RouteAnswer,
  variant: Extract<ServiceFault, { kind: 'json' }>['variant'] | undefined,
): string {
  const text = JSON.stringify(json)
  const form = json as { url?: string; fields?: Record<string, string> }
  switch (variant) {
    case undefined:
      return text
    case 'truncated':
      return text.slice(0, text.length >> 1)
    case 'invalid':
      return `${text.slice(0, -1)},]`
    case 'empty':
      return ''
    case 'empty-object':
      return '{}'
    case 'no-url':
      return JSON.stringify({ ...form, url: undefined })
    case 'no-key':
      return JSON.stringify({ ...form, fields: { ...form.fields, key: undefined } })
    case 'more-fields':
      return JSON.stringify({
        requestId: 'a "new" field',
        ...form,
        fields: { 'x-ignore-note': 'line one\nline "two" – ünïcode', ...form.fields },
      })
    default:
      throw new Error(`unknown variant ${variant satisfies never}`)
  }
}

function refusal(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: Buffer.from(JSON.stringify({ code, message })),
    code,
  }
}

function dateHeaders(
  fault: Extract<ServiceFault, { kind: 'date' }> | undefined,
  now: number,
): Record<string, string> {
  return {
    ...(fault?.omit ? {} : { date: new Date(now).toUTCString() }),
    ...(fault?.ageSeconds === undefined ? {} : { age: String(fault.ageSeconds) }),
  }
}

function split(url: string): [path: string, query: string] {
  const at = url.indexOf('?')
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}
