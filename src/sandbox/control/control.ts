// The control routes are on the service's listener, outside the base address of the service. They reset the sandbox,
// set its clock and its knobs, show requests, objects and postings, and add, list and remove faults. They meet no
// fault.

import { Hono } from 'hono'
import { isDiskFull } from '../disk-full.ts'
import { readFaults } from '../faults/fault-types.ts'
import type { FaultBook } from '../faults/faults.ts'
import { fetchMethod, jsonAnswer, Refusal, refuse } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Journal } from '../journal.ts'
import { readBody } from '../json-input.ts'
import { type Knobs, SOME_KNOBS } from '../knobs.ts'
import type { SandboxClock } from '../sandbox-clock.ts'
import { readOutcome } from '../service/body.ts'
import type { CampaignBook } from '../service/book.ts'
import type { Postings } from '../service/postings.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { clockJson, readClock } from './clock-body.ts'
import { listedRequests } from './request-list.ts'

interface ControlParts {
  faults: FaultBook
  journal: Journal
  store: ObjectStore
  campaigns: CampaignBook
  postings: Postings
  knobs: Knobs
  clock: SandboxClock
  /** reset puts everything back to the first start, and ends all connections except the connection of `exchange`. */
  reset: (exchange: Exchange) => Promise<void>
  /** clockChanged is called after the clock was set. */
  clockChanged: () => void
  /** health returns what `GET /_sandbox/health` shows. */
  health: () => { status: 'ok' | 'degraded' }
  openApi: () => object
  /** page returns the page at `/` as HTML. */
  page: () => string
}

/** LARGEST_BODY is the most bytes of the body of a control request. */
const LARGEST_BODY = 1024 * 1024
/** MOST_POSTINGS is the most postings in one answer of `GET /_sandbox/postings`. */
const MOST_POSTINGS = 1000
const PREFIX = '/_sandbox'

/** isControl returns whether a request is for the page or a control route. */
export const isControl = (exchange: Exchange) =>
  exchange.path === '/' || exchange.path.startsWith(`${PREFIX}/`)

type Env = { Bindings: { exchange: Exchange; body: Buffer; query: URLSearchParams } }

/** createControl returns a function that answers a request for the page or a control route. */
export function createControl(parts: ControlParts) {
  const { faults, journal, store, campaigns, postings, knobs, clock } = parts
  const app = new Hono<Env>({ getPath: (_, options) => options?.env?.exchange.path ?? '/' })
  const text = (json: unknown) => `${JSON.stringify(json, null, 2)}\n`
  const json = (value: unknown, status = 200) =>
    new Response(text(value), {
      status,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    })
  const findCampaign = (id: string | undefined) =>
    campaigns.all.find((one) => one.id === id) ??
    refuse(404, 'not-found', `there is no campaign "${id}"`)
  const findFault = (id: string) =>
    faults.list().find((one) => String(one.id) === id) ??
    refuse(404, 'not-found', `there is no fault ${id}`)

  app.get('/', () => {
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    return new Response(parts.page(), { headers })
  })
  const control = app.basePath(PREFIX)
  control.get('/health', () => {
    const health = parts.health()
    return json(health, health.status === 'ok' ? 200 : 503)
  })
  control.get('/openapi.json', () => json(parts.openApi()))
  control.post('/reset', async (c) => {
    await parts.reset(c.env.exchange)
    return json({})
  })
  control.get('/clock', () => json(clockJson(clock)))
  control.put('/clock', (c) => {
    const change = readClock(c.env.body)
    if ('advanceMs' in change) clock.setAhead(clock.aheadMs + change.advanceMs)
    else if (change.now === null) clock.setAhead(0)
    else clock.set(change.now)
    parts.clockChanged()
    return json(clockJson(clock))
  })
  control.get('/requests', (c) => json(listedRequests(journal, c.env.query)))
  control.get('/objects', () => json(store.list()))
  control.delete('/objects', async (c) => {
    await store.remove(c.env.query.get('account'))
    return json({})
  })
  control.get('/postings', async (c) => {
    const one = findCampaign(c.env.query.get('campaign') ?? undefined)
    const start = wholeNumber(c.env.query, 'start', 1)
    const shown: object[] = []
    let total = 0
    if (campaigns.isActive(one)) {
      for await (const posting of postings.selected(one.accountId, one.targeting)) {
        const { description: _, ...rest } = posting
        if (++total >= start && shown.length < MOST_POSTINGS) shown.push(rest)
      }
    }
    return json({ total, problem: await postings.problem(one.accountId), postings: shown })
  })
  control.put('/campaigns/:id', async (c) => {
    const one = findCampaign(c.req.param('id'))
    return json(await campaigns.shown(campaigns.setOutcome(one, readOutcome(c.env.body))))
  })
  control.get('/knobs', () => json(knobs))
  control.put('/knobs', (c) => json(Object.assign(knobs, readBody(c.env.body, SOME_KNOBS))))
  control.get('/faults', () => json(faults.list()))
  control.post('/faults', (c) => {
    const added = readFaults(c.env.body).map((rule) => faults.add(rule))
    return json(
      added.map(({ id }) => ({ id })),
      201,
    )
  })
  control.delete('/faults', () => {
    faults.clear()
    return json([])
  })
  control.delete('/faults/:id', (c) => {
    findFault(c.req.param('id')).remove()
    return json({})
  })
  control.post('/faults/:id/release', (c) => {
    findFault(c.req.param('id')).release()
    return json({})
  })
  const routes = app.routes.map(({ method, path }) => ({ method, path }))
  app.notFound((c) => {
    const { path, entry } = c.env.exchange
    const allowed = ['GET', 'POST', 'PUT', 'DELETE'].filter(
      (method) => app.router.match(method, path)[0].length > 0,
    )
    if (allowed.length === 0) {
      const known = routes.map(({ method, path: route }) => `${method} ${route}`).join(', ')
      refuse(404, 'not-found', `there is no ${entry.method} ${path}; there is ${known}`)
    }
    const message = `${path} allows ${allowed.join(', ')}`
    const answer = jsonAnswer(405, { code: 'wrong-method', message }, 'wrong-method')
    const headers = { ...answer.headers, allow: allowed.join(', ') }
    throw new Refusal({ ...answer, headers })
  })
  app.onError((error) => {
    if (isDiskFull(error)) {
      return json({ code: 'disk-full', message: 'the disk of the sandbox is full' }, 507)
    }
    if (!(error instanceof Refusal)) throw error
    const { status, headers, body } = error.answer
    return new Response(text(JSON.parse(body.toString('utf8'))), { status, headers })
  })

  return async (exchange: Exchange): Promise<void> => {
    exchange.update({ route: 'control' })
    const body = await exchange.wholeBody(LARGEST_BODY)
    const query = new URLSearchParams(exchange.query)
    const method = fetchMethod(exchange.entry.method)
    const request = new Request('http://sandbox', { method })
    const response = await app.fetch(request, { exchange, body, query })
    return exchange.answer({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
      code: null,
    })
  }
}

/** wholeNumber returns a parameter that must be a whole number from 1, or `otherwise` if the query does not have it. */
function wholeNumber(query: URLSearchParams, name: string, otherwise: number): number {
  const given = query.get(name)
  if (given === null) return otherwise
  if (/^\d{1,15}$/.test(given) && given !== '0') return Number(given)
  return refuse(400, 'bad-request', `${name}: expected a whole number from 1, got "${given}"`)
}
