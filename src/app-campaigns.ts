// The composition root of the campaigns' half. Apart from app.ts, so that commands about campaigns load
// neither the watcher nor the checker.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { historyFile, serviceOptions } from './app-tools.ts'
import { applyPlan, type Result } from './campaigns/apply.ts'
import type { Desired } from './campaigns/desired.ts'
import { readDesired } from './campaigns/desired-reader.ts'
import type { Plan } from './campaigns/plan.ts'
import type { CampaignStore } from './campaigns/port.ts'
import { lookAtCampaigns, type View, type Wanted } from './campaigns/reconciler.ts'
import type { Config } from './config/config.ts'
import { feedFor } from './config/feeds.ts'
import type { Absence, FeedSide, FeedUpload, FieldPaths } from './feed/port.ts'
import { streamPostings } from './feed/posting-stream.ts'
import { SelectionCount } from './feed/selection-count.ts'
import { openCampaignStore } from './history/campaign-store.ts'
import { absencesOf, latestUploads } from './history/feed-uploads.ts'
import { acquireLock } from './history/instance-lock.ts'
import type { HistoryReader, Version } from './history/port.ts'
import { openHistoryReader } from './history/reader.ts'
import type { Clock } from './lib/clock.ts'
import { errorCode, FeedsyncError } from './lib/errors.ts'
import { createHttpClient } from './lib/http.ts'
import { silentLog } from './lib/silent-log.ts'
import { VERSION } from './lib/version.ts'
import { listCampaigns } from './service/campaign-listing.ts'
import { createCampaignApi } from './service/campaigns.ts'
import type { CampaignApi, CampaignFailure, Listing } from './service/port.ts'

export interface Surroundings {
  clock: Clock
  env: Record<string, string | undefined>
}

/** The service's four campaign calls, with a network of their own. Throws `FeedsyncError` (78). */
export function openCampaignApi(
  config: Config,
  { clock, env }: Surroundings,
): { api: CampaignApi } & AsyncDisposable {
  const http = createHttpClient({ clock, env, userAgent: `feedsyncd/${VERSION}` })
  const { listField } = config.campaigns
  const api = createCampaignApi({
    ...{ ...serviceOptions(config), http, clock, log: silentLog, listField },
  })
  return { api, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() }
}

export type CampaignsFile =
  /** No file at the default place: nothing is managed (design section 5). */
  | { kind: 'off'; file: string }
  /** Stops every campaign write; each line says what is wrong, and where. */
  | { kind: 'unusable'; file: string; lines: string[] }
  | { kind: 'read'; file: string; desired: Desired; fileSha256: string }

export function readCampaignsFile({ campaigns }: Config): CampaignsFile {
  const { file, explicit } = campaigns
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' && !explicit) return { kind: 'off', file }
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    return { kind: 'unusable', file, lines: [`${file} ${why}`] }
  }
  if (!isUtf8(bytes)) return { kind: 'unusable', file, lines: [`${file} is not UTF-8`] }
  const reading = readDesired(bytes.toString('utf8'))
  const fileSha256 = createHash('sha256').update(bytes).digest('hex')
  if (reading.kind === 'desired')
    return { kind: 'read', file, desired: reading.desired, fileSha256 }
  const lines = reading.problems.map(
    ({ line, column, key, problem }) =>
      `${file}:${line}:${column} ${key === '' ? '' : `${key}: `}${problem}`,
  )
  return { kind: 'unusable', file, lines }
}

export interface Reconciler extends AsyncDisposable {
  readonly store: CampaignStore
  readonly api: CampaignApi
  /** Every campaign of the account. */
  list(signal: AbortSignal): Promise<Listing>
  /** Lists the service's campaigns and plans. */
  look(wanted: Wanted, signal: AbortSignal): Promise<View | CampaignFailure>
  /** Throws `FeedsyncError` (75) while another process writes campaigns. */
  apply(wanted: Wanted, view: View, options: ApplyOptions): Promise<Result[]>
  /** Runs `work` while no other process writes campaigns. Throws as `apply`. */
  alone<T>(work: () => Promise<T>): Promise<T>
}

export interface ApplyOptions {
  approved: Plan | null
  cause: string
  /** Ends what is being sent. */
  signal: AbortSignal
  /** Nothing new is sent after it. */
  stop?: AbortSignal
}

export function openReconciler(config: Config, surroundings: Surroundings): Reconciler {
  const { clock } = surroundings
  const feeds = () => feedSideOf(config)
  const service = openCampaignApi(config, surroundings)
  const store = openCampaignStore({ file: historyFile(config) })
  const account = accountOf(config)
  const list = (signal: AbortSignal) => listCampaigns(service.api, clock, signal)
  const parts = { api: service.api, list, store, feeds, clock, account }
  const alone = async <T>(work: () => Promise<T>) => {
    using _lock = writerLock(config)
    return await work()
  }
  return {
    ...{ store, api: service.api, list, alone },
    look: (wanted, signal) => lookAtCampaigns(parts, wanted, signal),
    apply: (wanted, view, { approved, cause, signal, stop = signal }) =>
      applyPlan({ ...parts, cause, signal, stop }, wanted, view, approved),
    [Symbol.asyncDispose]: () => {
      store[Symbol.dispose]()
      return service[Symbol.asyncDispose]()
    },
  }
}

/** What was uploaded for the account of the campaigns, as the history knows it now. */
export function feedSideOf(config: Config): FeedSide {
  const { identity } = config.service
  const isOurs = ({ account }: Version) =>
    identity.kind === 'account' || account === null || account === identity.partnerAccount
  const read = <T>(work: (history: HistoryReader) => T, none: T): T => {
    using history = openHistoryReader({ file: historyFile(config) })
    return history === null ? none : work(history)
  }
  const latest = read((history) => latestUploads(history, isOurs), [])
  const feeds = latest.map(({ feed }) => feed)
  let absences: ReadonlyMap<string, Absence> | null = null
  return {
    latest,
    absence: (id) => {
      absences ??= read<ReadonlyMap<string, Absence>>((h) => absencesOf(h, feeds), new Map())
      return absences.get(id) ?? null
    },
    count: async (questions, signal) => {
      const counting = new SelectionCount(questions)
      const take = (values: FieldPaths) => counting.add(values)
      return counting.finish(await readPostings(config, latest, counting.fields, take, signal))
    },
  }
}

/** Hands over each posting of the last uploads; answers why not all of them can be read. */
export async function readPostings(
  config: Config,
  latest: readonly FeedUpload[],
  fields: readonly (keyof FieldPaths)[],
  take: (values: FieldPaths) => void,
  signal: AbortSignal,
): Promise<string[]> {
  const problems: string[] = []
  for (const { feed, path, records, spool } of latest) {
    const { mapping } = feedFor(path, config.feeds)
    const file = join(config.state.directory, 'spool', spool ?? '')
    const source = { file, records, paths: mapping.fields }
    const problem =
      spool === null
        ? 'its bytes are not kept any more'
        : await streamPostings(source, take, { fields, signal })
    if (problem !== null) problems.push(`${feed}: ${problem}; upload it again`)
  }
  return problems
}

function writerLock(config: Config): Disposable {
  const lock = acquireLock(join(config.state.directory, 'campaigns'))
  if (lock !== null) return lock
  throw new FeedsyncError('another feedsyncd is writing campaigns right now', {
    hint: 'try again when it is done; feedsyncd campaigns history tells what it did',
    exitCode: 75,
  })
}

function accountOf({ service }: Config): string {
  const who = service.identity
  const name = who.kind === 'account' ? who.account : `${who.partner}/${who.partnerAccount ?? ''}`
  return `${service.baseUrl} ${name}`
}
