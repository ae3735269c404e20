// One look of the daemon at the campaigns. It reads the campaigns file, keeps the targeting in line with it and finds
// what differs. The result is kept for `status`.

import type { Config } from '../config/config.ts'
import type { History } from '../history/port.ts'
import { isoTime } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { limited } from '../lib/limited.ts'
import type { CampaignRun, CampaignSeen } from '../ops/campaigns/run.ts'
import {
  type CampaignsFile,
  contentStampOf,
  isCurrentOf,
  type ReadCampaignsFile,
  stableCampaignsFile,
} from './campaigns-file.ts'
import { changeLines } from './change-text.ts'
import { shownValue, valueText } from './fields.ts'
import { recordForeign } from './foreign.ts'
import type { JudgedEntry } from './judged-entry.ts'
import { readCampaigns } from './last-known.ts'
import { type LookResult, look } from './plan.ts'
import type { ServiceAccess } from './planner.ts'
import type { CampaignStore, TargetingApi } from './port.ts'
import { Recorder } from './recorder.ts'
import {
  CampaignSchedule,
  type LookCause,
  type LookSignals,
  type Looks,
  type ScheduleOptions,
} from './schedule.ts'
import type { CampaignApi } from './service/port.ts'
import { sync } from './sync.ts'
import type { WriteResult } from './write.ts'
import { openWriter, type Writer } from './writer.ts'

/** The state of a run, by the class of the failure that ended it. Only `failed` can pass without a person. */
const STATE_OF = {
  ...({ credentials: 'credentials', configuration: 'refused' } as const),
  ...({ refused: 'refused', missing: 'refused' } as const),
  ...({ temporary: 'failed', unreadable: 'failed' } as const),
}
/** Largest number of mistakes of the campaigns file in `status`. `plan` names all of them. */
const MOST_LINES = 20

/** campaignScheduleOf returns the schedule of the daemon's looks at the campaigns. */
export function campaignScheduleOf(
  config: Config,
  { clock, env, history, log, notifyOperator }: ScheduleSources,
): CampaignSchedule {
  const { file, explicit } = config.campaigns
  const stamp = contentStampOf(file)
  const isPaused = () => areAllPaused(history, clock.now())
  const looks: Looks = {
    stamp: () => stamp() ?? (explicit ? 'missing' : null),
    lastRun: lastRunOf(config, history),
    isPaused,
    look: (cause, signals) =>
      reconcile(cause, { config, access: { clock, env }, isPaused }, signals),
  }
  return new CampaignSchedule({ looks, clock, log, notifyOperator })
}

interface ScheduleSources extends Omit<ScheduleOptions, 'looks'> {
  env: NodeJS.ProcessEnv
  history: History
}

/** areAllPaused returns whether all feeds are paused. It is true if the database cannot be read. `now` is wall ms. */
function areAllPaused(history: History, now: number): boolean {
  try {
    return history.pauses(now).all.some(({ feed }) => feed === null)
  } catch {
    return true
  }
}

/** lastRunOf returns a function that reads the last run again only after another connection wrote to the database. */
function lastRunOf(config: Config, history: History) {
  let changes: number | null = null
  let run: CampaignRun | null = null
  return (): CampaignRun | null => {
    try {
      const now = history.dataVersion()
      if (now !== changes) run = readCampaigns(config, (known) => known.lastRun(), null)
      changes = now
      return run
    } catch {
      // The database fails, which the daemon reports. The next call reads again.
      return null
    }
  }
}

/**
 * reconcile looks at the campaigns file and the service once, and stores the result of the look. It returns null if
 * there is no campaigns file and no campaign belongs to an entry. While another process holds the writer lock, it
 * returns a `busy` run and stores nothing. Throws if `stop` is aborted, and the other errors of `openWriter`.
 */
async function reconcile(
  cause: LookCause,
  { config, access, isPaused }: { config: Config; access: ServiceAccess; isPaused: () => boolean },
  signals: LookSignals,
): Promise<CampaignRun | null> {
  const { clock } = access
  const { stop } = signals
  const file = await stableCampaignsFile(config, clock, stop)
  const count = readCampaigns(config, (known) => known.bindings().length, 0)
  if (file.kind === 'off' && count === 0) return null
  stop.throwIfAborted()
  const looked = { at: isoTime(clock.now()) ?? '', cause, mode: config.campaigns.mode }
  try {
    await using writer = await openWriter(config, access, 0)
    if (file.kind !== 'read') return keepRun(writer.store, looked, problemOf(file, count))
    return await lookWith(writer, { file, looked, isPaused }, signals)
  } catch (error) {
    const isBusy = error instanceof FeedsyncError && error.exitCode === EXIT.temporary
    if (stop.aborted || !isBusy) throw error
    const before = readCampaigns(config, (known) => known.lastRun(), null)
    const { hint, message: problem } = error
    return runOf(before, looked, { state: 'busy', problem, hint })
  }
}

/** lookWith sends the targetings that are due, looks, and stores the result. Throws if `stop` aborts the look. */
async function lookWith(
  writer: Writer,
  {
    file,
    looked,
    isPaused,
  }: { file: ReadCampaignsFile; looked: LookMoment; isPaused: () => boolean },
  signals: LookSignals,
): Promise<CampaignRun> {
  const { store, clock, account } = writer
  const { stop } = signals
  const isFileCurrent = isCurrentOf(file)
  const isCurrent = () => {
    writer.checkLock()
    return isFileCurrent() && !isPaused()
  }
  const recorder = new Recorder({ store, clock, actor: 'daemon', by: `daemon: ${looked.cause}` })
  const api = targetingApiOf(writer.api)
  const tools = { api, store, clock, recorder, identity: account.identity, isCurrent }
  const maySend = writer.keepsTargeting && looked.cause !== 'upload' && !isPaused()
  const results = maySend ? await sync(file, tools, signals) : null
  const found = await look(writer, { file, keys: null }, stop)
  stop.throwIfAborted()
  if (!('class' in found)) return keepLook(store, { looked, found, results })
  const { class: cause, reason: problem, hint } = found
  return keepRun(store, looked, { state: STATE_OF[cause], problem, hint })
}

/** targetingApiOf returns the only calls that the daemon may make for a campaign: get it, and put its targeting. */
function targetingApiOf({ get, update }: CampaignApi): TargetingApi {
  return { get, putTargeting: (id, targeting, signal) => update(id, { targeting }, signal) }
}

/** LookMoment says when, why and how a look was made. See `CampaignRun`. */
interface LookMoment {
  at: string
  cause: string
  mode: CampaignRun['mode']
}

/** LookEnd is what a look found; the parts that it did not reach are absent. */
interface LookEnd extends Partial<CampaignRun> {
  state: CampaignRun['state']
}

function problemOf(file: Exclude<CampaignsFile, ReadCampaignsFile>, count: number): LookEnd {
  const bound = count === 1 ? '1 campaign stays as it is' : `${count} campaigns stay as they are`
  const isOff = file.kind === 'off'
  return {
    state: 'unusable',
    problem: isOff
      ? `${file.file} is gone, and ${bound}`
      : limited(file.lines, MOST_LINES).join('; '),
    hint: `${isOff ? 'put the file back' : 'correct the file'}; until then no campaign is written, and feeds are uploaded`,
  }
}

/** runOf keeps the earlier results of parts that this look did not reach: problems for a person stay visible. */
function runOf(before: CampaignRun | null, looked: LookMoment, ended: LookEnd): CampaignRun {
  const nothing = { entries: [], findings: [], failures: [] }
  const since = before?.state === ended.state ? before.since : looked.at
  return { ...nothing, ...before, ...looked, problem: null, hint: null, ...ended, since }
}

/** keepRun stores the end of a look as the last run, and returns this run. */
function keepRun(store: CampaignStore, looked: LookMoment, ended: LookEnd): CampaignRun {
  const run = runOf(store.lastRun(), looked, ended)
  store.keepRun(run)
  return run
}

/**
 * keepLook stores the result of a look for `status`, and records in the history the values that somebody else changed.
 * `results` are the writes just before; null if none were due.
 */
export function keepLook(
  store: CampaignStore,
  {
    looked,
    found,
    results,
  }: { looked: LookMoment; found: LookResult; results: readonly WriteResult[] | null },
): CampaignRun {
  const { plan, judged } = found
  recordForeign(store, judged, Date.parse(looked.at))
  const before = new Map(store.lastRun()?.entries.map((one) => [one.key, one]))
  const coverages = new Map(plan.entries.map(({ key, coverage }) => [key, coverage]))
  const entries = judged.map((one): CampaignSeen => {
    const { key } = one.entry
    const earlier = before.get(key)
    const since = earlier?.state === one.state ? earlier.since : looked.at
    return { key, since, ...seenOf(one), coverage: coverages.get(key) ?? null }
  })
  const failures = results
    ?.filter(({ outcome }) => outcome !== 'done')
    .map(({ key, campaignId, outcome, reason }) => ({ key, campaignId, outcome, reason }))
  const { findings } = plan
  return keepRun(store, looked, { state: 'done', entries, findings, ...(failures && { failures }) })
}

function seenOf({ campaign, campaignId, state, reason, next, action }: JudgedEntry) {
  const show = (field: 'name' | 'status') => {
    const value = campaign === null ? undefined : shownValue(campaign, field)
    return value == null ? null : valueText(field, value)
  }
  return {
    campaignId,
    state,
    reason,
    next,
    changes: changeLines(action?.changes ?? []),
    name: show('name'),
    status: show('status'),
  }
}
