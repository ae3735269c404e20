// The sandbox is the service and its storage, written from the specification and S3's documented behaviour. The client
// of feedsyncd is tested against the sandbox, so the two share no code but `lib/`. The sandbox has two listeners, like
// two real hosts.

import { type Clock, MINUTE, SECOND, systemClock } from '../lib/clock.ts'
import { VERSION } from '../lib/version.ts'
import { createControl, isControl } from './control/control.ts'
import { overview } from './control/overview.ts'
import { openDatabase } from './database.ts'
import type { FaultRule } from './faults/fault-types.ts'
import { FaultBook } from './faults/faults.ts'
import { serviceScreen, withServiceFaults } from './faults/service-faults.ts'
import { storageScreen, withStorageFaults } from './faults/storage-faults.ts'
import type { Exchange } from './http/exchange.ts'
import { listen } from './http/side-listener.ts'
import { Journal } from './journal.ts'
import { type Knobs, NEUTRAL_KNOBS } from './knobs.ts'
import { openApi } from './openapi.ts'
import type { SeenRequest, StoredObject } from './records.ts'
import { SandboxClock } from './sandbox-clock.ts'
import { createAuthenticator, type KnownCaller } from './service/authentication.ts'
import { CampaignBook } from './service/book.ts'
import { BUCKET, FormIssuer } from './service/form-issuer.ts'
import { type FieldMapping, USUAL_FIELDS } from './service/posting-reader.ts'
import { Postings } from './service/postings.ts'
import { createService } from './service/service.ts'
import { LARGEST_OBJECT } from './storage/form-check.ts'
import { openStore } from './storage/object-store.ts'
import { createStorage } from './storage/storage.ts'

export interface SandboxOptions {
  /** callers are the accounts and partners that may call the service, each with a secret or key. */
  callers: readonly KnownCaller[]
  /** directory holds the objects. The path of an object below it is the object's key, written as file names. */
  directory: string
  /** host is the address on which service and storage listen; default 127.0.0.1. */
  host?: string
  /** database is the path of the SQLite file. Without a path, a restart forgets everything. */
  database?: string
  /** reset empties the sandbox at its start. The key and the ports stay. */
  reset?: boolean
  /** port and storagePort are 0 by default: the port of the last run or, in the first run, any free port. */
  port?: number
  storagePort?: number
  /** basePath is the path of the base address, such as `/api`; default none. */
  basePath?: string
  /** stringToSign is `{method}{path}?{query};{body};{date}` by default. */
  stringToSign?: string
  /** headerPrefix is `X-SVC-` by default. */
  headerPrefix?: string
  /** formLifetimeMs is the time for which a form is valid; default 15 minutes. */
  formLifetimeMs?: number
  /** contentLengthRange is the smallest and the largest file in bytes that a form allows; default 1 byte to 5 GiB. */
  contentLengthRange?: readonly [min: number, max: number]
  /** successStatus is the `success_action_status` of the forms; default 201. */
  successStatus?: string
  /** seed decides the keys of objects and the credentials of forms; default 1. */
  seed?: number
  /** idleTimeoutMs is the time without a byte after which the reading of a body stops; default 20 s, as in S3. */
  idleTimeoutMs?: number
  /** headTimeoutMs is the time that a client has to send the head of a request; default 20 s. */
  headTimeoutMs?: number
  /** knobs set what the specification leaves open. */
  knobs?: Partial<Knobs>
  /** firstFaults apply from the start, and after a reset. */
  firstFaults?: readonly FaultRule[]
  /** fields says which elements of a feed are postings and fields. By default they have the usual names. */
  fields?: FieldMapping
  clock?: Clock
  /** onClock is called after the clock was set, or was put back by a reset. */
  onClock?: () => void
}

/** Sandbox runs until it is closed. */
export interface Sandbox extends AsyncDisposable {
  /** url is the base address of the service, with the base path. */
  url: string
  /** storageUrl is the address for forms: the origin of the storage with its bucket. */
  storageUrl: string
  /** controlUrl is the base address of the control routes, such as `faults`, `objects` and `requests`. */
  controlUrl: string
  stringToSign: string
  headerPrefix: string
  faults: FaultBook
  campaigns: CampaignBook
  knobs: Knobs
  /** clock is the sandbox's clock, which a control route can set. */
  clock: SandboxClock
  /** reset puts everything but the key and the ports back to the first start, and ends all connections. */
  reset(): Promise<void>
  /** objects returns the complete objects, one for each key. */
  objects(): StoredObject[]
  /** requests returns the requests of both sides, oldest first, without control requests. */
  requests(): SeenRequest[]
  /** findRequest returns a copy of the first request that `predicate` accepts. `endedAt` is null while it runs. */
  findRequest(predicate: (request: SeenRequest) => boolean): SeenRequest | undefined
  /** onChange calls a function after each step of a request, until the returned function is called. */
  onChange(listener: () => void): () => void
  close(): Promise<void>
}

/**
 * startSandbox starts a sandbox, with the data that its database and its directory have kept.
 * @throws FeedsyncError (75) if another sandbox uses the database, or a port is taken.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { headerPrefix = 'X-SVC-', idleTimeoutMs = 20 * SECOND, firstFaults = [] } = options
  const { host = '127.0.0.1', stringToSign = '{method}{path}?{query};{body};{date}' } = options
  const basePath = (options.basePath ?? '').replace(/\/+$/, '')
  const { callers } = options
  const authenticator = createAuthenticator({ callers, stringToSign, headerPrefix, basePath })
  await using stack = new AsyncDisposableStack()
  const database = stack.use(openDatabase(options.database ?? ':memory:'))
  const clock = new SandboxClock(options.clock ?? systemClock, database)
  const journal = new Journal(clock, database, `${headerPrefix}ApiKey`)
  const faults = new FaultBook()
  const store = await openStore(options.directory, database)
  const issuer = new FormIssuer(
    {
      lifetimeMs: options.formLifetimeMs ?? 15 * MINUTE,
      contentLengthRange: options.contentLengthRange ?? ([1, LARGEST_OBJECT] as const),
      successStatus: options.successStatus ?? '201',
      seed: options.seed ?? 1,
    },
    database,
  )
  const firstKnobs: Knobs = { ...NEUTRAL_KNOBS, ...options.knobs }
  const knobs = { ...firstKnobs }
  const mapping = options.fields ?? USUAL_FIELDS
  const postings = new Postings({ db: database.db, store, mapping, knobs })
  const campaigns = new CampaignBook({ clock, knobs, database, postings })
  const { headTimeoutMs = 20 * SECOND } = options
  const shared = { host, clock, database, journal, idleTimeoutMs, headTimeoutMs }

  async function reset(asker: Exchange | null = null): Promise<void> {
    await store.remove(null)
    database.clear()
    journal.clear()
    campaigns.clear()
    postings.clear()
    faults.reset()
    clock.forget()
    Object.assign(knobs, firstKnobs)
    for (const rule of firstFaults) faults.add(rule)
    for (const side of [service, storage]) side.endConnections(asker)
    options.onClock?.()
  }

  const servicePrefix = headerPrefix.toLowerCase()
  const storage = stack.use(
    await listen({
      ...shared,
      side: 'storage',
      port: options.storagePort ?? 0,
      screen: () => storageScreen(faults),
      handle: withStorageFaults(
        createStorage(issuer, store, { now: () => clock.now(), servicePrefix }),
        faults,
      ),
    }),
  )
  const specifiedService = createService({
    ...{ authenticator, book: campaigns, issuer, knobs, storageFor: storage.originFor },
  })
  const callOf = (exchange: Exchange) => ({
    method: exchange.entry.method,
    path: exchange.path.startsWith(`${basePath}/`) ? exchange.path.slice(basePath.length) : '/',
    query: exchange.query,
    url: exchange.url,
    header: (name: string) => exchange.header(name),
    now: exchange.now(),
    elapsed: () => exchange.elapsed(),
  })
  const control = createControl({
    ...{ faults, journal, store, campaigns, postings, knobs, clock, reset },
    clockChanged: () => options.onClock?.(),
    health: () => ({
      status: journal.problem === null ? 'ok' : 'degraded',
      problem: journal.problem,
      version: VERSION,
      now: new Date(clock.now()).toISOString(),
      url: service.origin + basePath,
      storageUrl: `${storage.origin}/${BUCKET}`,
    }),
    openApi: () => openApi(service.origin + basePath),
    page: () => overview({ campaigns, store, journal, faults, clock }),
  })
  const faultyService = withServiceFaults({
    ...{ service: specifiedService, issuer, faults, callOf },
    accountOf: authenticator.claimedAccount,
    largestBody: () => knobs.largestBody,
  })
  const service = stack.use(
    await listen({
      ...shared,
      side: 'service',
      port: options.port ?? 0,
      screen: () => serviceScreen(faults),
      handle: async (exchange) => {
        if (isControl(exchange)) return control(exchange)
        if (exchange.entry.method !== 'HEAD') return faultyService(exchange)
        // HEAD only checks that the service is up. The specification has no HEAD, so a HEAD meets no fault.
        exchange.update({ route: 'control' })
        const body = await exchange.wholeBody(knobs.largestBody)
        const { answer } = await specifiedService.serve({ ...callOf(exchange), body })
        return exchange.answer(answer)
      },
    }),
  )
  if (options.reset) await reset()
  else for (const rule of firstFaults) faults.add(rule)
  const listeners = stack.move()
  const close = () => listeners.disposeAsync()

  return {
    url: service.origin + basePath,
    storageUrl: `${storage.origin}/${BUCKET}`,
    controlUrl: `${service.origin}/_sandbox`,
    stringToSign,
    headerPrefix,
    faults,
    campaigns,
    knobs,
    clock,
    reset: () => reset(),
    objects: () => store.list(),
    requests: () => journal.list(),
    findRequest: journal.find.bind(journal),
    onChange: journal.onChange.bind(journal),
    close,
    [Symbol.asyncDispose]: close,
  }
}
