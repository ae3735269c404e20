// The service and its storage, for the demo and for tests: written from the specification and S3's documented
// behaviour. Shares no code with our client, which is tested against it. Two listeners, as in reality two hosts.

import { type Clock, MINUTE, SECOND, systemClock } from '../lib/clock.ts'
import { createAuthenticator, type KnownCaller } from './authentication.ts'
import { CampaignBook } from './campaign-book.ts'
import { campaignRoutes } from './campaign-routes.ts'
import { createControl } from './control.ts'
import { FaultBook } from './faults.ts'
import { LARGEST_OBJECT } from './form-check.ts'
import { BUCKET, FormIssuer } from './form-issuer.ts'
import { Journal } from './journal.ts'
import { type Knobs, NEUTRAL_KNOBS } from './knobs.ts'
import { listen } from './listener.ts'
import { openDatabase } from './database.ts'
import { openStore } from './object-store.ts'
import { overview } from './overview.ts'
import { type FieldMapping, USUAL_FIELDS } from './posting-reader.ts'
import { Postings } from './postings.ts'
import type { SeenRequest } from './records.ts'
import { CONTROL_PATH, createService } from './service.ts'
import { uploadRoutes } from './service-routes.ts'
import { createStorage } from './storage.ts'

export interface SandboxOptions {
  /** Who may call, and the secrets or keys that prove it. */
  callers: readonly KnownCaller[]
  /** Objects land here, their key as path. */
  directory: string
  /** Both sides listen there; default 127.0.0.1. */
  host?: string
  /** SQLite file of what is remembered over a restart; default: nothing is. */
  database?: string
  /** Of the service and of the storage; default 0: the one that was used last, else any free one. */
  port?: number
  storagePort?: number
  /** Path of the base address, such as `/api`; default none. */
  basePath?: string
  /** Default `{method}{path}?{query};{body};{date}`. */
  stringToSign?: string
  /** Default `X-SVC-`. */
  headerPrefix?: string
  /** How long a form is valid; default 15 minutes. */
  formLifetimeMs?: number
  /** Bytes of a file that the policy allows; default 1 byte to 5 GiB. */
  contentLengthRange?: readonly [min: number, max: number]
  /** `success_action_status` of the forms; default 201. */
  successStatus?: string
  /** The storage gives up on a body after so long without a byte; default 20 s, as S3. */
  idleTimeoutMs?: number
  /** Answers carry the string to sign in a header, for tests of a signer. */
  showStringToSign?: boolean
  /** What it does where the specification is silent. */
  knobs?: Partial<Knobs>
  /** Where feeds have their postings; default: the usual names. */
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
    /** Base address of the service, with the base path. */
    url: service.origin + basePath,
    /** Address that forms are posted to: the origin of the storage with its bucket. */
    storageUrl: `${storage.origin}/${BUCKET}`,
    /** Address of the control routes: `faults`, `objects`, `requests` lie below it. */
    controlUrl: service.origin + CONTROL_PATH.slice(0, -1),
    stringToSign,
    headerPrefix,
    faults,
    campaigns,
    knobs,
    /** What was received completely, one for each key. */
    objects: () => store.list(),
    /** What both sides saw, oldest first, without control requests. */
    requests: () => journal.list(),
    /** Resolves once at least `n` objects are there; rejects once no request has moved for `stillMs` (default 30 s). */
    waitForObjects: (n: number, stillMs?: number) =>
      journal.waitFor(
        `${n} objects`,
        () => (store.list().length >= n ? store.list() : undefined),
        () => `${store.list().length}; ${summary(journal)}`,
        stillMs,
      ),
    /**
     * Resolves with the first request, past or future, that `predicate` accepts; it is checked at each step of a
     * request (a running one has `endedAt` null). Rejects once no request has moved for `stillMs` (default 30 s).
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
