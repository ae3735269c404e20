// This file is the service as the specification describes it: its calls (section 4), who may make them (section 5), and
// the errors that it answers. The service knows nothing of connections and faults.

import { channel } from 'node:diagnostics_channel'
import { Hono, type MiddlewareHandler } from 'hono'
import { isDiskFull } from '../disk-full.ts'
import {
  type Answer,
  badRequest,
  fetchMethod,
  jsonAnswer,
  Refusal,
  refuse,
} from '../http/answer.ts'
import type { Knobs } from '../knobs.ts'
import type { Audience, Authenticator, Caller } from './authentication.ts'
import { readCreate, readUpdate } from './body.ts'
import type { CampaignBook } from './book.ts'
import type { ArrivedCall } from './call.ts'
import type { FormIssuer, FormSettings } from './form-issuer.ts'
import { PARAMETERS, ROUTES, type RouteName } from './routes.ts'
import { search } from './search.ts'

interface ServiceParts {
  authenticator: Authenticator
  book: CampaignBook
  issuer: FormIssuer
  knobs: Knobs
  /** storageFor returns the origin of the storage for a client that called `url`. */
  storageFor: (url: string) => string
}

/** Served is an answer with what the journal records about it. */
interface Served {
  answer: Answer
  /** account is the account that the caller has proven. It is null before, and for a partner as a whole. */
  account: string | null
  /** key is the id of the campaign, or the object key of the form. It is null if the call concerns neither. */
  key: string | null
}

/** ServedMessage is what `SERVED` publishes: a call, and its answer before a fault or a knob changes the answer. */
export interface ServedMessage {
  call: ArrivedCall
  served: Served
  knobs: Readonly<Knobs>
}

/** SERVED is a channel for programs in the same process that watch the calls, such as a validator. */
export const SERVED = channel('feedsyncd:sandbox:served')

/** CallInWork is what a handler gets. It completes `served`. */
type CallInWork = { call: ArrivedCall; form: Partial<FormSettings>; served: Served }
type Variables = { caller: Caller; parameters: ReadonlyMap<string, string> }
type Handler = MiddlewareHandler<{ Bindings: CallInWork; Variables: Variables }>

export interface Service {
  /** routeOf returns the name of a route, or `unknown`. */
  routeOf(method: string, path: string): string
  /** serve carries a call out. `form` replaces settings of the form that the call asks for. */
  serve(call: ArrivedCall, form?: Partial<FormSettings>): Promise<Served>
}

/** createService makes the service of `book` and `issuer`. */
export function createService({
  authenticator,
  book,
  issuer,
  knobs,
  storageFor,
}: ServiceParts): Service {
  const app = new Hono<{ Bindings: CallInWork; Variables: Variables }>({
    getPath: (_, options) => options?.env?.call.path ?? '/',
  })
  const accountOf = ({ account, owner }: Caller) => account ?? owner

  /** authenticated makes a handler that refuses a call without proof, with a wrong encoding or wrong parameters. */
  const authenticated =
    ({ audience, name }: { audience: Audience; name: RouteName }): Handler =>
    async (c, next) => {
      const { call, served } = c.env
      const caller = authenticator.authenticate(call, audience)
      served.account = caller.account
      c.set('caller', caller)
      if (!isPercentEncoded(call.path)) badRequest('the path has an invalid percent-encoding')
      if (!isPercentEncoded(call.query)) badRequest('the query has an invalid percent-encoding')
      c.set('parameters', parametersIn(call.query, PARAMETERS[name] ?? []))
      await next()
    }

  const findCampaign = (caller: Caller, id: string) =>
    book.find(accountOf(caller), id) ?? refuse(404, 'not-found', `there is no campaign "${id}"`)

  const handlers: Record<RouteName, Handler> = {
    'campaign-create': async (c) => {
      const [account, fields] = [accountOf(c.var.caller), readCreate(c.env.call.body)]
      await book.prepare(account)
      const campaign = book.create(account, fields)
      c.env.served.key = campaign.id
      return c.json(await book.shown(campaign))
    },
    'campaign-search': async (c) =>
      c.json(
        await search(book, knobs, {
          account: accountOf(c.var.caller),
          parameters: c.var.parameters,
          call: c.env.call,
        }),
      ),
    'campaign-get': async (c) => {
      const campaign = findCampaign(c.var.caller, c.req.param('id') ?? '')
      c.env.served.key = campaign.id
      return c.json(await book.shown(campaign))
    },
    'campaign-update': async (c) => {
      const campaign = findCampaign(c.var.caller, c.req.param('id') ?? '')
      c.env.served.key = campaign.id
      const fields = readUpdate(c.env.call.body)
      await book.prepare(campaign.accountId)
      return c.json(await book.shown(book.update(campaign, fields)))
    },
    presign: async (c) => c.json(presigned(c.env, c.var.caller)),
    'presign-bulk': async (c) => c.json(presigned(c.env, c.var.caller)),
    validate: async (c) => c.json('Authorization is valid.'),
  }

  /** presigned issues a form, and records its object key. */
  function presigned({ call, form, served }: CallInWork, caller: Caller) {
    const issued = issuer.issue(caller, storageFor(call.url), { now: call.now, ...form })
    served.key = issued.fields.key
    return issued
  }

  for (const route of ROUTES) {
    app.on([route.method], [route.path], authenticated(route), handlers[route.name])
  }
  const matchingRoute = (method: string, path: string) => {
    const [matched] = app.router.match(method, path)
    const template = matched[0]?.[0][1].path
    return ROUTES.find((route) => route.method === method && route.path === template)
  }
  app.notFound((c) => {
    const { path, method, url } = c.env.call
    const allowed = ROUTES.filter((route) => matchingRoute(route.method, path) === route)
    if (allowed.length === 0) refuse(404, 'not-found', `there is no ${method} ${url}`)
    const allow = allowed.map((route) => route.method).join(', ')
    const answer = jsonAnswer(
      405,
      { code: 'wrong-method', message: `${path} allows ${allow}` },
      'wrong-method',
    )
    throw new Refusal({ ...answer, headers: { ...answer.headers, allow } })
  })
  app.onError((error, c) => {
    if (error instanceof Refusal) c.env.served.answer = error.answer
    else if (isDiskFull(error)) c.env.served.answer = DISK_FULL
    else throw error
    return c.body(null)
  })

  return {
    routeOf: (method, path) => matchingRoute(method, path)?.name ?? 'unknown',

    async serve(call, form = {}) {
      const served: Served = { answer: jsonAnswer(200, null), account: null, key: null }
      const request = new Request('http://service', { method: fetchMethod(call.method) })
      const response = await app.fetch(request, { call, form, served })
      if (served.answer.code === null) {
        served.answer = {
          status: response.status,
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: Buffer.from(await response.arrayBuffer()),
          code: null,
        }
      }
      if (SERVED.hasSubscribers) SERVED.publish({ call, served, knobs } satisfies ServedMessage)
      served.answer = withErrorBody(served.answer, knobs.errorBody)
      return served
    },
  }
}

/** withErrorBody replaces the body of an error as the knob `errorBody` says. */
function withErrorBody(answer: Answer, errorBody: Knobs['errorBody']): Answer {
  if (answer.status < 400 || errorBody === 'json') return answer
  const page = `<!doctype html><title>${answer.status}</title><h1>It did not work</h1>\n`
  const body = Buffer.from(errorBody === 'none' ? '' : page)
  return { ...answer, headers: { ...answer.headers, 'content-type': 'text/html' }, body }
}

const DISK_FULL = jsonAnswer(
  507,
  {
    code: 'disk-full',
    message: 'the disk of the sandbox is full or cannot be written; nothing was changed',
  },
  'disk-full',
)

/** parametersIn reads a query. A plus sign is a space. It refuses an unknown or repeated parameter with 400. */
function parametersIn(query: string, known: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (!known.includes(name)) {
      const expected = known.length === 0 ? 'no parameters' : known.join(', ')
      badRequest(`"${name}" is not a parameter of this call; expected ${expected}`)
    }
    if (found.has(name)) badRequest(`${name} is given twice`)
    found.set(name, value)
  }
  return found
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
