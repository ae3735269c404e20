// Builds the parts that commands about campaigns need. It is separate from app.ts, so that these commands load neither
// the watcher nor the checker.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { historyFile } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import { formatProblem } from '../config/problems.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import type { FieldPaths } from '../domain/mapping.ts'
import { streamPostings } from '../feed/posting-stream.ts'
import { acquireLock, type InstanceLock } from '../history/instance-lock.ts'
import type { HistoryReader, Version } from '../history/port.ts'
import { openHistoryReader } from '../history/tables.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'
import { readRegular, stampOf } from '../lib/files.ts'
import { createHttpClient } from '../lib/http.ts'
import { silentLog } from '../lib/log.ts'
import { becomeOwnerOf } from '../lib/user.ts'
import { keepsAll } from '../pipeline/accounts.ts'
import { accountOf, identityOf } from './account.ts'
import { readDesired } from './desired.ts'
import { absencesOf, latestUploads } from './feed-uploads.ts'
import type { PlanParts } from './plan.ts'
import type { CampaignStore, FeedSide, FeedUpload } from './port.ts'
import { createCampaignApi } from './service/api.ts'
import { type ListingParts, listCampaigns } from './service/campaign-listing.ts'
import type { CampaignApi } from './service/port.ts'
import { openCampaignReader, openCampaignStore } from './store.ts'
import type { ManagedFile } from './taken.ts'

export interface Surroundings {
  clock: Clock
  env: NodeJS.ProcessEnv
  /** onPage is called after each page of a listing. */
  onPage?: ListingParts['onPage']
}

/** openCampaignApi opens the service's campaign calls, with their own HTTP client. Throws `FeedsyncError` (78). */
export function openCampaignApi(
  config: Config,
  { clock, env }: Surroundings,
): { api: CampaignApi } & AsyncDisposable {
  const http = createHttpClient({ clock, env })
  const api = createCampaignApi({ ...config.service, http, clock, log: silentLog })
  return { api, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() }
}

export type CampaignsFile =
  /** There is no file at the default place, so no campaign is managed. */
  | { kind: 'off'; file: string }
  /** The file cannot be used, which stops every campaign write. Each line says what is wrong, and where. */
  | { kind: 'unusable'; file: string; lines: string[] }
  | ({ kind: 'read'; file: string } & ManagedFile)

/** An editor may write a file in several steps. */
const STABLE_MS = 2 * SECOND
const LONGEST_WAIT_MS = 60 * SECOND
const LARGEST = 8 * 1024 * 1024

export function readCampaignsFile({ campaigns }: Config): CampaignsFile {
  const { file, explicit } = campaigns
  const unusable = (why: string): CampaignsFile => ({
    kind: 'unusable',
    file,
    lines: [`${file} ${why}`],
  })
  let bytes: Buffer
  try {
    bytes = readRegular(file, LARGEST)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' && !explicit) return { kind: 'off', file }
    if (code === null) return unusable(messageOf(error))
    return unusable(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`)
  }
  if (!isUtf8(bytes)) return unusable('is not UTF-8')
  const reading = readDesired(bytes.toString('utf8'))
  const fileSha256 = sha256Of(bytes)
  if (reading.kind === 'desired')
    return {
      kind: 'read',
      file,
      entries: reading.entries,
      fileSha256,
      isEnded: bytes.at(-1) === 10,
    }
  const lines = reading.problems.map((problem) => formatProblem(file, problem))
  return { kind: 'unusable', file, lines }
}

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** stableCampaignsFile reads the file after two seconds without a change. */
export async function stableCampaignsFile(
  config: Config,
  clock: Clock,
  signal: AbortSignal,
): Promise<CampaignsFile> {
  const { file } = config.campaigns
  const began = clock.monotonic()
  const content = contentStampOf(file)
  let since = began
  for (let known = content(); ; ) {
    const changedAt = stampOf(file)?.changedAt
    const age = changedAt === undefined ? STABLE_MS : clock.now() - changedAt
    // The text counts, not the time stamp: a job may touch the file again and again, or set a time in the future.
    const rested = Math.max(age, clock.monotonic() - since)
    if (rested >= STABLE_MS) {
      const read = readCampaignsFile(config)
      if (content() === known) return read
    }
    if (clock.monotonic() - began > LONGEST_WAIT_MS || signal.aborted)
      return { kind: 'unusable', file, lines: [`${file} is still being written`] }
    await clock.sleep(Math.max(0, STABLE_MS - rested), signal)
    const now = content()
    if (now !== known) since = clock.monotonic()
    known = now
  }
}

/**
 * contentStampOf returns a function whose result changes with the content of the file. The result stays the same if a
 * job writes the same content again; null: there is no file.
 */
export function contentStampOf(file: string): () => string | null {
  let known: string | null = null
  let content: string | null = null
  return () => {
    const now = stampOf(file)?.text ?? null
    if (now === known) return content
    known = now
    try {
      content = now === null ? null : sha256Of(readRegular(file, LARGEST))
    } catch {
      // The file cannot be read; the next look says why.
      content = now
    }
    return content
  }
}

/** isCurrentOf returns a function that tells whether the file still has the content that was read. */
export function isCurrentOf({ file, fileSha256 }: Extract<CampaignsFile, { kind: 'read' }>) {
  const content = contentStampOf(file)
  return () => content() === fileSha256
}

export type Planner = Omit<PlanParts, 'fileDoubt'> & { api: CampaignApi } & AsyncDisposable

/** openPlanner opens what a plan needs. It takes no lock and writes nothing. Throws `FeedsyncError`. */
export function openPlanner(config: Config, surroundings: Surroundings): Planner {
  const owned = new AsyncDisposableStack()
  const { api } = owned.use(openCampaignApi(config, surroundings))
  const parts = planParts(config, surroundings, api)
  const { now } = parts.clock
  const store = owned.use(
    openCampaignReader({ file: historyFile(config), account: accountOf(config), now }),
  )
  return {
    ...parts,
    store,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export type Writer = Omit<Planner, 'store' | 'clock'> & {
  store: CampaignStore
  clock: Clock
  /** checkLock throws `FeedsyncError` (75) if the lock is lost, because another process may then write campaigns. */
  checkLock(): void
}

const LOCK_PATIENCE_MS = 10 * SECOND
const LOCK_POLL_MS = 200

/** openWriter opens what a write needs. It waits 10 s for the writer lock, then throws `FeedsyncError` (75). */
export async function openWriter(
  config: Config,
  surroundings: Surroundings,
  patienceMs = LOCK_PATIENCE_MS,
): Promise<Writer> {
  const { clock } = surroundings
  await using owned = new AsyncDisposableStack()
  const { api } = owned.use(openCampaignApi(config, surroundings))
  becomeOwnerOf(config.state.directory)
  const lock = owned.use(await writerLock(config, clock, patienceMs))
  const [account, file] = [accountOf(config), historyFile(config)]
  const parts = planParts(config, surroundings, api)
  const store = owned.use(openCampaignStore({ file, account, now: parts.clock.now }))
  const disposal = owned.move()
  return {
    ...parts,
    store,
    checkLock: () => {
      if (lock.isLost()) throw lockLost()
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}

function planParts(config: Config, { clock, onPage }: Surroundings, api: CampaignApi) {
  return {
    api,
    clock: serviceClock(clock, api),
    account: accountOf(config),
    identity: identityOf(config),
    get: api.get,
    list: (signal: AbortSignal) =>
      listCampaigns({ search: api.search, ...(onPage && { onPage }) }, clock, signal),
    feeds: () => feedSideOf(config),
    keepsTargeting: config.campaigns.mode === 'targeting',
  }
}

/** serviceClock returns a clock with the service's time of day: a create is open for an hour of that time. */
function serviceClock(clock: Clock, { clockSkewMs }: CampaignApi): Clock {
  return { ...clock, now: () => clock.now() + (clockSkewMs() ?? 0) }
}

/** feedSideOf returns the uploads of the campaigns' account, as the history knows them now. */
export function feedSideOf(config: Config): FeedSide {
  const { identity } = config.service
  const isOurs = ({ account }: Version) =>
    !('partner' in identity) || account === null || account === identity.partnerAccount
  const read = <T>(work: (history: HistoryReader) => T, none: T): T => {
    using history = openHistoryReader({ file: historyFile(config) })
    return history === null ? none : work(history)
  }
  const latest = read((history) => latestUploads(history, isOurs), [])
  const keepsAllFeeds = () => read((history) => keepsAll(config.guards, history, null), false)
  const feeds = latest.map(({ feed }) => feed)
  let missingSince: FeedSide['missingSince'] | null = null
  return {
    latest,
    isAtMost: latest.length > 1 && !keepsAllFeeds(),
    missingSince: (id) => {
      missingSince ??= read<FeedSide['missingSince']>(
        (h) => absencesOf(h, feeds),
        () => null,
      )
      return missingSince(id)
    },
    read: async (fields, needed, take, signal) => {
      const problems: string[] = []
      for (const upload of latest) {
        const problem = await readPostings(config, upload, fields, needed, take, signal)
        if (problem !== null) problems.push(`${upload.feed}: ${problem}`)
      }
      return problems
    },
  }
}

/** Uploading the same bytes again makes no new version, so the advice is to wait for the next one. */
const UNTIL_NEXT = 'its postings count again once its next version is uploaded'

/** readPostings passes each posting of an upload to `take`; it returns why it cannot. */
async function readPostings(
  { feeds, state }: Config,
  { encoding, feed, path, records, spool }: FeedUpload,
  fields: readonly (keyof FieldPaths)[],
  needed: readonly (keyof FieldPaths)[],
  take: (values: FieldPaths) => void,
  signal: AbortSignal,
): Promise<string | null> {
  if (spool === null) return `its copy was removed; ${UNTIL_NEXT}`
  const paths = feedFor(path, feeds, feed).mapping.fields
  const missing = new Set(needed.filter((field) => field !== 'externalCampaignId'))
  let postings = 0
  const see = (values: FieldPaths) => {
    postings++
    for (const field of missing) if (values[field]) missing.delete(field)
    take(values)
  }
  const source = { file: join(state.directory, 'spool', spool), encoding, records, paths }
  const problem = await streamPostings(source, see, { fields, signal })
  if (problem !== null) return `${problem}; ${UNTIL_NEXT}`
  // A field that no posting has is probably not mapped.
  if (postings === 0 || missing.size === 0) return null
  return `no posting has ${[...missing].join(', ')}; map it under feeds[].fields, then: systemctl restart feedsyncd`
}

/** lockLost returns the error for a lock file that was deleted: another process may write now, so we stop. */
function lockLost(): FeedsyncError {
  return new FeedsyncError('the lock of the campaigns was deleted during a write', {
    hint: 'run the command again, and never delete campaigns/daemon.lock in the state directory',
    exitCode: EXIT.temporary,
  })
}

async function writerLock(
  { state }: Config,
  clock: Clock,
  patienceMs: number,
): Promise<InstanceLock> {
  const until = clock.monotonic() + patienceMs
  for (;;) {
    const lock = acquireLock(join(state.directory, 'campaigns'))
    if (lock !== null) return lock
    if (clock.monotonic() >= until) break
    await clock.sleep(LOCK_POLL_MS)
  }
  throw new FeedsyncError('another feedsyncd is writing campaigns right now', {
    hint: hintWith(
      'try again when it has finished; to see what it wrote',
      commandFor('campaigns history'),
    ),
    exitCode: EXIT.temporary,
  })
}
