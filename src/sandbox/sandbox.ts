// The sandbox is the service and its storage, written from the specification and S3's documented behaviour. It shares
// no code with the client, which is tested against it. It has two listeners, like two real hosts.

import { type Clock, MINUTE, SECOND, systemClock } from '../lib/clock.ts'
import { createAuthenticator, type KnownCaller } from './authentication.ts'
import { CampaignBook } from './campaign-book.ts'
import { campaignRoutes } from './campaign-routes.ts'
import { createControl } from './control.ts'
import { openDatabase } from './database.ts'
import { FaultBook } from './faults.ts'
import { LARGEST_OBJECT } from './form-check.ts'
import { BUCKET, FormIssuer } from './form-issuer.ts'
import { Journal } from './journal.ts'
import { type Knobs, NEUTRAL_KNOBS } from './knobs.ts'
import { listen } from './listener.ts'
import { openStore } from './object-store.ts'
import { overview } from './overview.ts'
import { type FieldMapping, USUAL_FIELDS } from './posting-reader.ts'
import { Postings } from './postings.ts'
import type { SeenRequest } from './records.ts'
import { CONTROL_PATH, createService } from './service.ts'
import { uploadRoutes } from './service-routes.ts'
import { createStorage } from './storage.ts'

export interface SandboxOptions {
  /** callers are those who may call, with the secrets or keys that prove it. */
  callers: readonly KnownCaller[]
  /** directory holds the objects; an object's path is its key. */
  directory: string
  /** host is where both sides listen; default 127.0.0.1. */
  host?: string
  /** database is the SQLite file; without one, a restart forgets everything. */
  database?: string
  /** port and storagePort are 0 by default: the port of the last run or, at the first start, any free port. */
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
  /** contentLengthRange is the size in bytes that the policy allows; default 1 byte to 5 GiB. */
  contentLengthRange?: readonly [min: number, max: number]
  /** successStatus is the `success_action_status` of the forms; default 201. */
  successStatus?: string
  /** idleTimeoutMs is the time without a byte after which a side stops reading a body; default 20 s, as in S3. */
  idleTimeoutMs?: number
  /** showStringToSign adds the string to sign to each answer, in a header, for tests of a signer. */
  showStringToSign?: boolean
  /** knobs set what the specification leaves open. */
  knobs?: Partial<Knobs>
  /** fields says which elements are postings and fields; default: the usual names. */
  fields?: FieldMapping
  clock?: Clock
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

export async function startSandbox(options: SandboxOptions) {
  const { clock = systemClock, headerPrefix = 'X-SVC-', idleTimeoutMs = 20 * SECOND } = options
  const { host = '127.0.0.1', stringToSign = '{method}{path}?{query};{body};{date}' } = options
  const basePath = (options.basePath ?? '').replace(/\/+$/, '')
  const authenticator = createAuthenticator(options.callers, stringToSign, headerPrefix)
  await using stack = new AsyncDisposableStack()
  const database = stack.use(openDatabase(options.database ?? ':memory:'))
  const journal = new Journal(clock, database)
  const faults = new FaultBook(journal)
  const store = await openStore(options.directory, database)
  const form = {
    lifetimeMs: options.formLifetimeMs ?? 15 * MINUTE,
    contentLengthRange: options.contentLengthRange ?? ([1, LARGEST_OBJECT] as const),
    successStatus: options.successStatus ?? '201',
  }
  const issuer = new FormIssuer(form, database)
  const shared = { host, clock, database, journal, faults, idleTimeoutMs }
  const knobs: Knobs = { ...NEUTRAL_KNOBS, ...options.knobs }
  const postings = new Postings(database.db, store, options.fields ?? USUAL_FIELDS)
  const campaigns = new CampaignBook(clock, knobs, database, postings)

  const storage = stack.use(
    await listen({
      ...shared,
      side: 'storage',
      port: options.storagePort ?? 0,
      handle: createStorage(issuer, store, headerPrefix.toLowerCase()),
    }),
  )
  const service = stack.use(
    await listen({
      ...shared,
      side: 'service',
      port: options.port ?? 0,
      handle: createService({
        basePath,
        routes: [
          ...uploadRoutes(issuer, storage.originFor),
          ...campaignRoutes(campaigns, knobs, postings),
        ],
        authenticator,
        control: createControl({ faults, journal, store, campaigns, postings, knobs }),
        knobs,
        page: () => overview({ campaigns, store, journal }),
        showStringToSign: options.showStringToSign ?? false,
      }),
    }),
  )
  const listeners = stack.move()
  const close = () => listeners.disposeAsync()

  return {
    /** url is the base address of the service, with the base path. */
    url: service.origin + basePath,
    /** storageUrl is the address for forms: the origin of the storage with its bucket. */
    storageUrl: `${storage.origin}/${BUCKET}`,
    /** controlUrl is the base address of the control routes, such as `faults`, `objects` and `requests`. */
    controlUrl: service.origin + CONTROL_PATH.slice(0, -1),
    stringToSign,
    headerPrefix,
    faults,
    campaigns,
    knobs,
    /** objects returns the complete objects, one for each key. */
    objects: () => store.list(),
    /** requests returns the requests of both sides, oldest first, without control requests. */
    requests: () => journal.list(),
    /** waitForObjects resolves once `n` objects are stored. It rejects after `stillMs` (30 s) without progress. */
    waitForObjects: (n: number, stillMs?: number) =>
      journal.waitFor(
        `${n} objects`,
        () => (store.list().length >= n ? store.list() : undefined),
        () => `${store.list().length}; ${summary(journal)}`,
        stillMs,
      ),
    /**
     * waitForRequest resolves with the first past or future request that `predicate` accepts. It checks after each step
     * of a request; a running one has `endedAt` null. It rejects after `stillMs` (default 30 s) without progress.
     */
    waitForRequest: (predicate: (request: SeenRequest) => boolean, stillMs?: number) =>
      journal.waitFor(
        `a request that ${predicate}`,
        () => journal.find(predicate),
        () => summary(journal),
        stillMs,
      ),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function summary(journal: Journal): string {
  const shown = journal
    .list()
    .slice(-20)
    .map(({ side, route, status, code }) => `${side} ${route} ${status ?? '-'} ${code ?? ''}`)
  return shown.map((line) => line.trim()).join(', ') || 'no requests'
}
