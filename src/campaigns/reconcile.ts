// One look of the daemon at the campaigns. It reads the campaigns file, keeps the targeting in line with it and finds
// what differs. The result is kept for `status`.

import type { Config } from '../config/config.ts'
import type { Pauses, Transactions } from '../history/port.ts'
import { isoTime } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { limited } from '../lib/limited.ts'
import type { CampaignRun, CampaignSeen } from '../ops/campaigns/run.ts'
import { changeLines } from './change-text.ts'
import { shownValue, valueText } from './fields.ts'
import { recordForeign } from './foreign.ts'
import type { Judged } from './judge.ts'
import { readCampaigns } from './last-known.ts'
import {
  type CampaignsFile,
  contentStampOf,
  isCurrentOf,
  openWriter,
  type Surroundings,
  stableCampaignsFile,
  type Writer,
} from './open.ts'
import { type Look, look } from './plan.ts'
import type { CampaignStore, TargetingApi } from './port.ts'
import { CampaignSchedule, type LookCause, type ScheduleParts } from './schedule.ts'
import type { CampaignApi } from './service/port.ts'
import { sync } from './sync.ts'
import { doubtAbout } from './taken.ts'
import type { Result } from './write.ts'

/** The state of a run after a failed look. Only `failed` may pass without a person. */
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
  parts: Surroundings &
    Pick<ScheduleParts, 'log' | 'notifyOperator'> & {
      history: Pick<Transactions, 'dataVersion'> & Pick<Pauses, 'pauses'>
    },
): CampaignSchedule {
  const { file, explicit } = config.campaigns
  const stamp = contentStampOf(file)
  const isPaused = isPausedOf(parts)
  return new CampaignSchedule({
    ...parts,
    stamp: () => stamp() ?? (explicit ? 'missing' : null),
    lastRun: lastRunOf(config, parts.history),
    isPaused,
    look: (...why) => reconcile(config, { ...parts, isPaused }, ...why),
  })
}

/** isPausedOf returns a function that is true while all feeds are paused, or while the database cannot be read. */
function isPausedOf({
  clock,
  history,
}: Pick<Surroundings, 'clock'> & { history: Pick<Pauses, 'pauses'> }) {
  return (): boolean => {
    try {
      return history.pauses(clock.now()).all.some(({ feed }) => feed === null)
    } catch {
      return true
    }
  }
}

/** lastRunOf returns a function that reads the last run again only after another connection wrote to the database. */
function lastRunOf(config: Config, { dataVersion }: Pick<Transactions, 'dataVersion'>) {
  let changes: number | null = null
  let run: CampaignRun | null = null
  return (): CampaignRun | null => {
    try {
      const now = dataVersion()
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
 * reconcile makes one look. After `stop` it sends nothing new; `abort` ends a running request. It returns null if there
 * is no campaigns file and no campaign belongs to an entry. It throws what `openWriter` throws.
 */
async function reconcile(
  config: Config,
  surroundings: Surroundings & Pick<ScheduleParts, 'isPaused'>,
  cause: LookCause,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<CampaignRun | null> {
  const { clock } = surroundings
  const file = await stableCampaignsFile(config, clock, stop)
  const count = readCampaigns(config, (known) => known.bindings().length, 0)
  if (file.kind === 'off' && count === 0) return null
  stop.throwIfAborted()
  const looked = { at: isoTime(clock.now()) ?? '', cause, mode: config.campaigns.mode }
  try {
    await using writer = await openWriter(config, surroundings, 0)
    if (file.kind !== 'read') return keepRun(writer.store, looked, problemOf(file, count))
    return await lookWith({ ...writer, isPaused: surroundings.isPaused }, file, looked, stop, abort)
  } catch (error) {
    const isBusy = error instanceof FeedsyncError && error.exitCode === EXIT.temporary
    if (stop.aborted || !isBusy) throw error
    const before = readCampaigns(config, (known) => known.lastRun(), null)
    const { hint, message: problem } = error
    return runOf(before, looked, { state: 'busy', problem, hint })
  }
}

async function lookWith(
  writer: Writer & Pick<ScheduleParts, 'isPaused'>,
  file: Extract<CampaignsFile, { kind: 'read' }>,
  looked: Looked,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<CampaignRun> {
  const { store, checkLock, isPaused } = writer
  const isFileCurrent = isCurrentOf(file)
  const isCurrent = () => {
    checkLock()
    return isFileCurrent() && !isPaused()
  }
  const parts = { ...writer, api: targetingApiOf(writer.api), by: `daemon: ${looked.cause}` }
  const isKept = writer.keepsTargeting && looked.cause !== 'upload' && !isPaused()
  const results = isKept ? await sync({ ...parts, isCurrent }, file, stop, abort) : null
  const fileDoubt = doubtAbout(file, store)
  const found = await look({ ...writer, fileDoubt }, file.entries, null, stop)
  stop.throwIfAborted()
  if (!('class' in found)) return keepLook(store, looked, found, results)
  const { class: cause, reason: problem, hint } = found
  return keepRun(store, looked, { state: STATE_OF[cause], problem, hint })
}

/** targetingApiOf returns the only calls that the daemon may make for a campaign: get it, and put its targeting. */
function targetingApiOf({ get, update }: CampaignApi): TargetingApi {
  return { get, putTargeting: (id, targeting, signal) => update(id, { targeting }, signal) }
}

type Looked = Pick<CampaignRun, 'at' | 'cause' | 'mode'>
type Ending = Partial<CampaignRun> & Pick<CampaignRun, 'state'>

function problemOf(file: Exclude<CampaignsFile, { kind: 'read' }>, count: number): Ending {
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
function runOf(before: CampaignRun | null, looked: Looked, ended: Ending): CampaignRun {
  const nothing = { entries: [], findings: [], failures: [] }
  const since = before?.state === ended.state ? before.since : looked.at
  return { ...nothing, ...before, ...looked, problem: null, hint: null, ...ended, since }
}

function keepRun(store: CampaignStore, looked: Looked, ended: Ending): CampaignRun {
  const run = runOf(store.lastRun(), looked, ended)
  store.keepRun(run)
  return run
}

/** keepLook keeps the result of a look for `status`. `results` are the writes just before; null if none were due. */
export function keepLook(
  store: CampaignStore,
  looked: Looked,
  { plan, judged }: Look,
  results: readonly Result[] | null,
): CampaignRun {
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

function seenOf({ campaign, campaignId, state, reason, next, action }: Judged) {
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
