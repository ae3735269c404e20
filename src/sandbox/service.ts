// The service (specification sections 4 and 5) finds the route, plays faults, authenticates the caller and answers
// JSON.

import { type Answer, jsonAnswer, Refusal, refuse } from './answer.ts'
import { type Authenticator, refuseSignature, type ServiceRequest } from './authentication.ts'
import type { Control } from './control.ts'
import type { Exchange } from './exchange.ts'
import { rawBytes, replacementAnswer } from './fault-answers.ts'
import type { FaultOf } from './fault-types.ts'
import type { Knobs } from './knobs.ts'
import type { Route } from './service-routes.ts'

export interface ServiceParts {
  /** basePath is the path of the base address without a final slash, or empty. */
  basePath: string
  routes: readonly Route[]
  authenticator: Authenticator
  knobs: Knobs
  control: Control
  /** page returns the page at `/` as HTML. */
  page: () => string
  /** showStringToSign adds the expected string to sign, in Base64, as the header `x-sandbox-string-to-sign`. */
  showStringToSign: boolean
}

export const CONTROL_PATH = '/_sandbox/'
const LARGEST_BODY = 1024 * 1024

export function createService(parts: ServiceParts) {
  const { basePath, routes, authenticator, knobs, control, showStringToSign } = parts

  return async (exchange: Exchange): Promise<void> => {
    const { method } = exchange.entry
    const [path = '', query = ''] = (exchange.request.url ?? '').split(/\?(.*)/s)
    if (path === '/' && method === 'GET') {
      exchange.note({ route: 'control' })
      const headers = { 'content-type': 'text/html; charset=utf-8' }
      const body = Buffer.from(parts.page())
      return exchange.answer({ status: 200, headers, body, code: null })
    }
    if (path.startsWith(CONTROL_PATH)) {
      exchange.note({ route: 'control' })
      const body = (await exchange.wholeBody(LARGEST_BODY)) ?? Buffer.alloc(0)
      const answer = await refusalAsAnswer(async () => {
        const parameters = new URLSearchParams(query)
        const given = await control(method, path.slice(CONTROL_PATH.length), parameters, body)
        return jsonAnswer(given, `${JSON.stringify(given.json, null, 2)}\n`)
      })
      return exchange.answer(answer)
    }

    // HEAD only checks that the service is up. The specification has no such request, so it meets no fault.
    if (method === 'HEAD') {
      exchange.note({ route: 'control' })
      return exchange.answer({ status: 404, headers: {}, body: Buffer.alloc(0), code: null })
    }
    const routePath = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : ''
    const route = routes.find((one) => one.method === method && one.path.test(routePath))
    const header = (name: string) => exchange.header(name)
    const account = authenticator.claimedAccount({ header })
    await exchange.begin({ route: route?.name ?? 'unknown', account })

    const { largestBody } = knobs
    const body = await exchange.wholeBody(largestBody)
    const slow = exchange.fault('slow')
    if (slow?.never) await exchange.cut('silence')
    if (slow?.headersAfterMs !== undefined) await exchange.sleep(slow.headersAfterMs)
    await exchange.waitAtGate('end')
    if (exchange.socket.destroyed) return
    if (body === null) {
      if (exchange.entry.bytes <= largestBody) {
        refuse(400, 'body-unreadable', 'the body ended early')
      }
      refuse(413, 'body-too-large', `the body is longer than ${largestBody} bytes`)
    }
    const raw = exchange.fault('raw')
    if (raw !== undefined) return exchange.answerRaw(rawBytes(raw))

    const request = { method, path: routePath, query, body, header }
    const realAnswer = () => refusalAsAnswer(() => carryOut(exchange, route, request))
    const lost = exchange.fault('commit-drop')
    if (lost?.afterMs !== undefined) {
      await exchange.cutAndWait(lost.how, lost.afterMs)
      await realAnswer()
      return
    }
    const answer = replacementAnswer(exchange) ?? withErrorBody(await realAnswer(), knobs.errorBody)
    if (showStringToSign) {
      const expected = authenticator.stringToSign(request).toString('base64')
      answer.headers['x-sandbox-string-to-sign'] = expected
    }
    await exchange.waitAtGate('answer')
    if (lost !== undefined) return exchange.cut(lost.how)
    return exchange.answer(answer)
  }

  async function carryOut(
    exchange: Exchange,
    route: Route | undefined,
    request: ServiceRequest,
  ): Promise<Answer> {
    if (route === undefined) {
      if (routes.some(({ path }) => path.test(request.path))) {
        refuse(405, 'wrong-method', 'use another method')
      }
      refuse(404, 'not-found', 'there is no such route')
    }
    if (exchange.fault('signature-mismatch') !== undefined) refuseSignature()
    const now = exchange.now()
    const caller = authenticator.authenticate(request, route.audience, now)
    const id = decoded(route.path.exec(request.path)?.[1] ?? '')
    const { url } = exchange
    const elapsed = () => exchange.elapsed()
    const form = exchange.fault('form')
    const given = await route.answer({ caller, request, id, url, elapsed, now, form })
    exchange.note({ account: caller.account, key: given.key ?? null })
    const jsonFault = exchange.fault('json')
    if (jsonFault === undefined) return jsonAnswer(given)
    return jsonAnswer(
      given,
      JSON_VARIANTS[jsonFault.variant](JSON.stringify(given.json), given.json as Form),
    )
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return refuse(400, 'bad-request', 'the path has an invalid percent-encoding')
  }
}

/** withErrorBody replaces the body of an error as the knob says. */
function withErrorBody(answer: Answer, errorBody: Knobs['errorBody']): Answer {
  if (answer.status < 400 || errorBody === 'json') return answer
  const page = `<!doctype html><title>${answer.status}</title><h1>It did not work</h1>\n`
  const body = Buffer.from(errorBody === 'none' ? '' : page)
  return { ...answer, headers: { 'content-type': 'text/html' }, body }
}

/** refusalAsAnswer returns a refusal as a normal answer, for a request that was read to its end. */
async function refusalAsAnswer(answer: () => Promise<Answer>): Promise<Answer> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  }
}

type Form = { url?: string; fields?: Record<string, string> }

const JSON_VARIANTS: Record<FaultOf<'json'>['variant'], (text: string, form: Form) => string> = {
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
