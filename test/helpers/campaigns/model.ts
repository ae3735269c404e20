// Random histories of campaigns: changes of the file, edits on the service, faults, kills, lost and restored databases.
// A simulated person confirms each plan, and waits if its warning says so. The model checks nine properties against the
// service itself, at each request and after each step.

import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { type Entry, readDesired } from '../../../src/campaigns/desired.ts'
import { type CampaignField, FIELDS, type Value } from '../../../src/campaigns/fields.ts'
import { markIn, markOf, nameWithoutMark } from '../../../src/campaigns/mark.ts'
import type { LookResult, Plan, PlanItem } from '../../../src/campaigns/plan.ts'
import type { CampaignStore } from '../../../src/campaigns/port.ts'
import type { Targeting } from '../../../src/campaigns/service/port.ts'
import type { SyncTools } from '../../../src/campaigns/sync.ts'
import { canonical, isSame, readTargeting } from '../../../src/campaigns/targeting.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { type SandboxPosting, targetingTest } from '../../../src/sandbox/service/targeting.ts'
import type { BookCampaign, Fields } from './book.ts'
import { fileOf } from './file.ts'
import {
  type Backup,
  type Call,
  failure,
  Host,
  IDENTITY,
  Killed,
  type Process,
  type Trouble,
  World,
} from './world.ts'

/** Mutation switches off a rule, so that a test can show that the model notices it. */
export interface Mutation {
  store?: (store: CampaignStore, host: Host) => CampaignStore
  /** process changes what each process works with. */
  process?: (process: Process, host: Host) => Process
  /** sync changes what the daemon works with. */
  sync?: (tools: SyncTools) => SyncTools
  entries?: (entries: Entry[]) => Entry[]
}

/** LAG is how old the campaigns of a late listing are. LAG and LATEST together are less than an hour. */
const LAG = 25 * MINUTE
/** STEP is the longest time between two notes of what a listing shows. */
const STEP = 5 * MINUTE
/** LATEST is how long the latest write is under way. */
const LATEST = 20 * MINUTE

const KEYS = ['K1', 'K2', 'K3'] as const

// The file.

interface Choice {
  isListed: boolean
  name: string
  budget: number
  end: string | null
  status: string | null
  targeting: string | null
  period: string | null
  /** The index of the campaign that the entry names by its id; null if the entry names no campaign. */
  campaign: number | null
}

const TARGETINGS = [
  'all',
  '{ stateProvCodes: [MA] }',
  '{ stateProvCodes: [MA, ON] }',
  '{ stateProvCodes: [MA], jobTitles: [nurse] }',
  '{ jobTitles: [nurse, cook] }',
  '{ requisitionIds: [R-K2-1, R-K3-5] }',
]
const sometimes = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })
const often = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 8, arbitrary: value })
const seldom = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 15, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })

const choice: fc.Arbitrary<Choice> = fc.record({
  isListed: fc.constantFrom(true, true, true, true, false),
  name: fc.constantFrom('Campaign', 'Campaign', 'Other'),
  budget: fc.constantFrom(40.4, 60, 80, 140),
  end: sometimes(fc.constantFrom('none', '2027-03-31', '2027-06-30', '2026-12-01T18:00:00Z')),
  status: seldom(fc.constantFrom('running', 'paused')),
  targeting: often(fc.constantFrom(...TARGETINGS)),
  period: seldom(fc.constantFrom('once', 'monthly')),
  campaign: seldom(fc.nat(5)),
})
const choices = fc.array(choice, { minLength: KEYS.length, maxLength: KEYS.length })

function fileFor(all: readonly Choice[], campaigns: readonly BookCampaign[]): string {
  const taken = new Set<string>()
  const entries = KEYS.flatMap((key, n) => {
    const one = all[n]
    if (one === undefined || !one.isListed) return []
    const found = one.campaign === null ? undefined : campaigns[one.campaign]?.id
    const campaignId = found === undefined || taken.has(found) ? null : found
    if (campaignId !== null) taken.add(campaignId)
    const fields = {
      ...{ externalCampaignId: key, name: `${one.name} ${key}`, budget: one.budget.toFixed(2) },
      ...{ endDate: one.end, status: one.status, period: one.period, targeting: one.targeting },
      campaignId: campaignId && `"${campaignId}"`,
      allowWiden: 'true',
    }
    const lines = Object.entries(fields).filter(([, value]) => value !== null)
    return [`  - ${lines.map(([name, value]) => `${name}: ${value}\n`).join('    ')}`]
  })
  return fileOf(...(entries.length > 0 ? entries : ['  - externalCampaignId: K9\n']))
}

// What goes wrong.

const FAULTS = {
  ok: null,
  lost: { kind: 'lost' },
  late: { kind: 'lost', afterMs: 30 * SECOND },
  later: { kind: 'lost', afterMs: LATEST },
  ignored: { kind: 'ignored' },
  down: { kind: 'fail', failure: failure.temporary() },
  limited: { kind: 'fail', failure: failure.temporary(429) },
  unreached: { kind: 'fail', failure: failure.unreached() },
  refused: { kind: 'fail', failure: failure.refused() },
  denied: { kind: 'fail', failure: failure.credentials() },
} as const satisfies Record<string, Trouble | null>

const WITHIN = ['raised', 'new file', 'made otherwise'] as const
type Fault = keyof typeof FAULTS | (typeof WITHIN)[number]

const fault = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Fault>('ok') },
  { weight: 4, arbitrary: fc.constantFrom<Fault[]>('lost', 'late', 'later', 'ignored') },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Fault[]>(...(Object.keys(FAULTS) as Fault[]), ...WITHIN),
  },
)
interface Script {
  /** The faults of the next calls, in order: `writes` for calls that write, `calls` for all calls. */
  writes: Fault[]
  calls: Fault[]
  diesAfter: number | null
}
const script: fc.Arbitrary<Script> = fc.record({
  writes: fc.oneof(fc.constant<Fault[]>([]), fc.array(fault, { maxLength: 6 })),
  calls: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Fault[]>([]) },
    { weight: 1, arbitrary: fc.array(fault, { maxLength: 20 }) },
  ),
  diesAfter: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.nat(90) },
  ),
})
const NO_FAULTS: Script = { writes: [], calls: [], diesAfter: null }

/** SHAPES are the ways in which answers can differ from the real campaign. */
const SHAPES = {
  plain: (shown: Fields) => shown,
  'dates without zones': (shown: Fields) => ({
    ...shown,
    endDate: typeof shown.endDate === 'string' ? shown.endDate.replace('Z', '') : shown.endDate,
  }),
  'budgets as text': (shown: Fields) => ({
    ...shown,
    budget: shown.budget === null ? null : String(shown.budget),
  }),
  'no budget in lists': ({ budget, ...shown }: Fields, where: string) =>
    where === 'listed' ? shown : { ...shown, budget },
  'no names in lists': ({ name, ...shown }: Fields, where: string) =>
    where === 'listed' ? shown : { ...shown, name },
  'no end': ({ endDate: _, ...shown }: Fields) => shown,
  'no status': ({ status: _, ...shown }: Fields) => shown,
} as const

/** ECHOES are the ways in which a service can show targeting. */
const ECHOES = {
  'as sent': (targeting: Fields | null) => targeting,
  'without titles': (targeting: Fields | null) =>
    targeting && { ...targeting, jobTitles: undefined },
  'in capitals': (targeting: Fields | null) =>
    targeting &&
    JSON.parse(JSON.stringify(targeting).replaceAll(/nurse|cook/g, (w) => w.toUpperCase())),
} as const
type Echo = keyof typeof ECHOES

/** NAMES are the ways in which a service can keep a name with a mark. */
const NAMES = {
  'as sent': (name: string) => name,
  'without brackets': (name: string) => name.replace(/\[#(\w+)\]/, '$1'),
  'in capitals': (name: string) => name.replace(/\[#\w+\]/, (mark) => mark.toUpperCase()),
  escaped: (name: string) => name.replace('[', '&#91;').replace(']', '&#93;'),
} as const
type Naming = keyof typeof NAMES

const POSTINGS: SandboxPosting[] = ['K1', 'K2', 'K3'].flatMap((externalCampaignId) =>
  ['MA', 'ON', 'RI'].flatMap((state, i) =>
    ['nurse', 'cook', 'clerk'].map((title, j) => ({
      ...{
        id: '',
        externalCampaignId,
        state,
        title,
        requisitionId: `R-${externalCampaignId}-${3 * i + j}`,
      },
      ...{ description: '', city: '', postalCode: '' },
    })),
  ),
)

interface Pass {
  by: 'daemon' | 'plan' | 'lower'
  /** The plan that a person confirmed. */
  plan: Plan | null
  entries: ReadonlyMap<string, Entry>
  script: Script
  /** The last read of each campaign. */
  reads: Map<string, Call>
  /** The whole file, if this process sees only its beginning; null means it sees the whole file. */
  whole: ReadonlyMap<string, Entry> | null
  /** True if the service created a campaign with other values than it was sent, and answered. */
  isMadeOtherwise: boolean
}

export class Simulation {
  readonly world = new World()
  readonly host: Host
  /** `kept` counts the targetings that the daemon sent. */
  readonly figures = { passes: 0, writes: 0, kept: 0, faults: 0, kills: 0 }
  readonly #echo: Echo
  /** The plans of which lines were sent. */
  readonly #used = new Set<Plan>()
  /** By name: the ids of the campaigns that we created under this name. */
  readonly #named = new Map<string, Set<string>>()
  /** By key: the ids of the campaigns that we created, as long as they are live and keep their key. */
  readonly #made = new Map<string, Set<string>>()
  /** The campaigns whose targeting a person changed on the service after our last write. */
  readonly #retargeted = new Set<string>()
  #pass: Pass | null = null
  #earlier: string
  #confirmed: Plan | null = null
  #backup: Backup | null = null
  /** Wall ms when the database was lost. */
  #lostAt = Number.NEGATIVE_INFINITY
  /**
   * True if the database forgot earlier writes, which can still arrive. Targeting that the service does not show is
   * then unknown.
   */
  #hasForgotten = false
  #listing: { at: number; all: BookCampaign[] }[] = []
  #isLate = false

  constructor(
    all: readonly Choice[],
    { echo, naming }: { echo: Echo; naming: Naming },
    mutation: Mutation,
  ) {
    const file = fileFor(all, [])
    this.host = new Host(this.world, file)
    this.#earlier = file
    this.#echo = echo
    this.world.book.knobs.keptName = NAMES[naming]
    const { process, store: wrapStore } = mutation
    if (wrapStore !== undefined) this.host.wrap = (store) => wrapStore(store, this.host)
    if (process !== undefined) this.host.wrapProcess = (one) => process(one, this.host)
    this.host.wrapSync = mutation.sync ?? this.host.wrapSync
    this.host.wrapEntries = mutation.entries ?? this.host.wrapEntries
    this.world.trouble = (call) => this.#arrives(call)
    this.world.onCreated = (one) => this.#created(one)
    this.world.listed = (now) => {
      if (!this.#isLate) return now
      const old = this.#listing.findLast(({ at }) => at <= this.world.now - LAG)
      return old?.all ?? []
    }
  }

  close(): void {
    this.host.restart()
    this.world.close()
  }

  /** age runs the daemon once and lets two hours pass, so that the database counts as old. */
  async age(): Promise<void> {
    await this.daemon(NO_FAULTS)
    this.pass(2 * HOUR)
  }

  /** story returns the calls, the file, the campaigns and the database, to explain a failure. */
  story(): string {
    const calls = this.world.calls.filter(({ kind }) => kind !== 'search').slice(-40)
    return [
      ...calls.map(({ kind, id, body, shown }) =>
        [kind, id, JSON.stringify(body), '->', JSON.stringify(shown)].join(' '),
      ),
      this.host.file,
      JSON.stringify(this.world.all, null, 1),
      JSON.stringify(this.host.store.history({ limit: 20 }), null, 1),
      JSON.stringify(this.host.store.bindings(), null, 1),
    ].join('\n')
  }

  // The actions of people.

  write(all: readonly Choice[]): void {
    this.#earlier = this.host.file
    this.host.file = fileFor(all, this.world.all)
  }

  /** retarget changes only the targetings in the file, which the daemon sends. */
  retarget(targetings: readonly string[]): void {
    this.#earlier = this.host.file
    let n = 0
    const other = () => `targeting: ${targetings[n++ % targetings.length]}`
    this.host.file = this.host.file.replaceAll(/targeting: .*/g, other)
  }

  /** renameKey gives an entry another key, as a person corrects a misspelled one. */
  renameKey(n: number): void {
    this.#earlier = this.host.file
    const key = KEYS[n % KEYS.length] ?? 'K1'
    const line = `externalCampaignId: ${key}`
    this.host.file = this.host.file.replace(`${line}\n`, `${line}X\n`)
  }

  /** cut writes a new file of which the daemon sees only the beginning, as during a write that stopped. */
  async cut(all: readonly Choice[], share: number, given: Script): Promise<void> {
    this.write(all)
    const whole = inBlocks(this.host.file)
    this.host.file = whole
    const entries = this.#entries()
    const end = Math.floor(whole.length * share)
    // Half of the files are cut at the end of a line.
    this.host.file = whole.slice(0, end % 2 === 0 ? end : whole.lastIndexOf('\n', end) + 1)
    const isRead = readDesired(this.host.file).kind === 'desired'
    const pass = { by: 'daemon', plan: null, given, whole: entries } as const
    if (isRead) await this.#run(pass, () => this.host.daemon())
    this.host.file = whole
  }

  /** again sends a plan, takes its lines back, and sends the old plan once more, as a script can do. */
  async again(given: Script): Promise<void> {
    await this.plan()
    await this.applyOld(given)
    this.takeBack()
    await this.lower(NO_FAULTS)
    await this.apply(NO_FAULTS)
    this.takeBack()
    await this.applyOld(NO_FAULTS)
  }

  takeBack(): void {
    const { file } = this.host
    this.host.file = this.#earlier
    this.#earlier = file
  }

  /** show sets how the service shows campaigns from now on, and whether it shows targeting and late listings. */
  show(
    shape: keyof typeof SHAPES,
    { isEchoed, isLate }: { isEchoed: boolean; isLate: boolean },
  ): void {
    this.world.shape = SHAPES[shape]
    this.world.book.knobs.echo = isEchoed ? ECHOES[this.#echo] : null
    this.#isLate = isLate
  }

  /** edit does what a person does on the service, to the n-th campaign or for the n-th key. */
  edit(n: number, what: (typeof EDITS)[number]): void {
    const { all, now } = this.world
    const one = all[n % Math.max(1, all.length)]
    const key = KEYS[n % KEYS.length] ?? 'K1'
    if (what === 'make' || one === undefined)
      return void this.world.make(`Fair ${all.length}`, { status: n % 2 === 0 ? 1 : 3 })
    if (what === 'make for a key')
      return void this.world.make(`For ${key} ${all.length}`, {
        targeting: { externalCampaignId: key },
      })
    if (what === 'raise') one.budget = (one.budget ?? 0) + 500
    if (what === 'lower') one.budget = Math.max(1, (one.budget ?? 20) - 10)
    if (what === 'pause') one.status = 3
    if (what === 'resume') one.status = 1
    if (what === 'archive') one.status = 2
    if (what === 'end') one.endDate = `${new Date(now - HOUR).toISOString().slice(0, 19)}Z`
    if (what === 'reopen') one.endDate = '2028-01-01T00:00:00Z'
    if (what === 'rename') one.name = `Renamed ${one.name}`
    // A write that is under way would still arrive, so nobody can take over the campaign now.
    if (what === 'hand over' && !this.world.hasLateWrites) one.name = 'Of others [#zzzzzzzzzz]'
    if (what === 'narrow' || what === 'widen') {
      const { externalCampaignId } = one.targeting ?? {}
      const states = what === 'narrow' ? { stateProvCodes: ['MA'], jobTitles: ['nurse'] } : {}
      one.targeting = { externalCampaignId, ...states }
      this.#retargeted.add(one.id)
    }
  }

  forget(n: number): void {
    this.host.forget(KEYS[n % KEYS.length] ?? 'K1')
  }

  database(what: `${'keep' | 'restore' | 'lose'} ${'database' | 'directory'}`): void {
    const [how, part] = what.split(' ') as ['keep' | 'restore' | 'lose', 'database' | 'directory']
    if (how === 'keep') {
      this.#backup = this.host.backup()
      return
    }
    // A person does not confirm a plan from before the database changed.
    this.#confirmed = null
    this.#lostAt = this.world.now
    this.#hasForgotten = true
    if (how === 'lose') this.host.lose(part)
    else if (this.#backup !== null) {
      this.host.restore(this.#backup, part)
    }
  }

  /** putBack applies the file, and then restores the database of before. */
  async putBack(given: Script, part: 'database' | 'directory'): Promise<void> {
    this.database(`keep ${part}`)
    await this.apply(given)
    this.database(`restore ${part}`)
  }

  async plan(): Promise<void> {
    this.#confirmed = await this.host.plan()
    // The warning of a new database tells the person to wait.
    if (this.#confirmed.warning !== null && this.#isNew) this.#confirmed = null
  }

  get #isNew(): boolean {
    return this.world.now < this.#lostAt + HOUR
  }

  /** apply confirms and sends the current plan. */
  async apply(given: Script, only: number | null = null): Promise<void> {
    const keys = [...this.#entries().keys()]
    const key = only === null ? undefined : keys[only % keys.length]
    const named = key === undefined ? null : [key]
    const planned = async () => (await this.host.look(named)).plan
    let plan = await planned()
    if (plan.warning !== null && this.#isNew) {
      this.pass(this.#lostAt + HOUR - this.world.now)
      plan = await planned()
    }
    await this.#run({ by: 'plan', plan, given }, () => this.host.send(plan.digest, named))
  }

  /** applyOld sends a plan that a person confirmed some time ago. */
  async applyOld(given: Script): Promise<void> {
    const plan = this.#confirmed
    if (plan === null) return
    await this.#run({ by: 'plan', plan, given }, () => this.host.send(plan.digest))
  }

  async lower(given: Script): Promise<void> {
    await this.#run({ by: 'lower', plan: null, given }, () => this.host.send(null))
  }

  async daemon(given: Script): Promise<void> {
    await this.#run({ by: 'daemon', plan: null, given }, () => this.host.daemon())
  }

  pass(ms: number): void {
    // A late listing comes from these notes; longer steps would make it later than LAG.
    for (let left = ms; left > 0; left -= STEP) {
      this.world.pass(Math.min(left, STEP))
      this.#noteListing()
    }
  }

  #noteListing(): void {
    this.#listing.push({ at: this.world.now, all: this.world.all.map((one) => ({ ...one })) })
  }

  #entries(): Map<string, Entry> {
    return new Map(this.host.entries().map((entry) => [entry.key, entry]))
  }

  /** #run does the work of one pass under the faults of the script, and checks that no plan is sent twice. */
  async #run(
    {
      by,
      given,
      plan,
      whole = null,
    }: Pick<Pass, 'by' | 'plan'> & { given: Script; whole?: Pass['whole'] },
    work: () => Promise<unknown>,
  ) {
    this.figures.passes++
    const isUsed = plan !== null && this.#used.has(plan)
    const writes = this.figures.writes
    const copy = { ...given, writes: [...given.writes], calls: [...given.calls] }
    const entries = this.#entries()
    const seen = { reads: new Map<string, Call>(), isMadeOtherwise: false }
    this.#pass = { by, plan, entries, script: copy, whole, ...seen }
    this.host.diesAfter = given.diesAfter
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      this.figures.kills++
    } finally {
      this.#pass = null
      const isSent = this.figures.writes > writes
      if (isSent && plan !== null) this.#used.add(plan)
      must(!isSent || !isUsed, 'a confirmed line is sent a second time')
    }
  }

  // The requests that arrive at the service.

  #arrives(call: Call): Trouble | null {
    const pass = this.#pass
    if (pass === null) return null
    const isWrite = call.kind === 'create' || call.kind === 'update'
    if (isWrite) this.#checkWrite(pass, call)
    const isCreate = call.kind === 'create'
    if (call.kind === 'get') pass.reads.set(call.id ?? '', call)
    const { calls, writes } = pass.script
    const fault = calls.shift() ?? (isWrite ? writes.shift() : null) ?? 'ok'
    if (fault === 'ok') return null
    this.figures.faults++
    if (fault === 'new file') this.takeBack()
    else if (fault === 'made otherwise') pass.isMadeOtherwise ||= isCreate
    else if (fault === 'raised') {
      const n = this.world.all.findIndex(({ id }) => id === call.id)
      if (n !== -1) this.edit(n, 'raise')
      // The call fails, so that the write is tried again after the raise.
      if (isWrite) return FAULTS.down
    } else if (isWrite || !['lost', 'late', 'later', 'ignored', 'refused'].includes(fault)) {
      // If targeting is not shown, feedsyncd cannot know that the service ignored it.
      const isHidden = this.world.book.knobs.echo === null && call.body?.targeting !== undefined
      if (fault === 'ignored' && isHidden) this.#retargeted.add(call.id ?? '')
      return FAULTS[fault]
    }
    return null
  }

  #checkWrite(pass: Pass, { kind, id, body }: Call): void {
    this.figures.writes++
    const { store } = this.host
    const sent = JSON.stringify(body)
    const hasRow = store
      .sending()
      .some((row) => row.campaignId === id && JSON.stringify(row.body) === sent)
    must(hasRow, `a ${kind} is sent without a row: ${sent}`)
    if (body === null) return
    if (id === null) {
      must(pass.by === 'plan', `a create is sent by ${pass.by}`)
      must(!pass.isMadeOtherwise, 'a create follows one that the service made otherwise')
      checkPlanned(pass.plan, id, body)
      return
    }
    const shown = pass.reads.get(id)?.shown
    if (shown === undefined) throw new Error(`a promise is broken: ${id} is written and not read`)
    const bound = store.bindings().find(({ campaignId }) => campaignId === id)
    must(bound !== undefined, `campaign ${id} is written and belongs to no entry`)
    must(markIn(shown.name) !== 'zzzzzzzzzz', `campaign ${id} of others is written`)
    const entry = pass.entries.get(bound?.key ?? '')
    if (body.targeting !== undefined) {
      this.#retargeted.delete(id)
      const { externalCampaignId } = body.targeting as Targeting
      must(externalCampaignId === bound?.key, `${bound?.key} is sent as ${externalCampaignId}`)
    }
    if (pass.by === 'daemon') this.#checkDaemon(entry, { id, body, shown })
    else if (pass.by === 'lower') checkLower(id, body, shown)
    else {
      const item = checkPlanned(pass.plan, id, body)
      for (const { field, from } of item.changes)
        if (field in body && from !== undefined && shown[field] !== undefined)
          must(
            field === 'targeting' || isShown(field, shown[field], valueInPlan(field, from)),
            `${field} of ${id} was planned from ${from} and is ${shown[field]}`,
          )
    }
  }

  #checkDaemon(
    entry: Entry | undefined,
    { id, body, shown }: { id: string; body: Fields; shown: Fields },
  ): void {
    this.figures.kept++
    must(Object.keys(body).join() === 'targeting', `the daemon sends ${JSON.stringify(body)}`)
    const { targeting = null, values = {}, key = '' } = entry ?? {}
    const sent = this.host.store.binding(key)?.sent.targeting ?? null
    const selected = POSTINGS.filter((one) => selects(body.targeting, one))
    const strange = selected.find((one) => one.externalCampaignId !== key)
    must(strange === undefined, `the daemon lets ${key} select ${strange?.requisitionId}`)
    const whole = this.#pass?.whole?.get(key)?.targeting
    if (this.#pass?.whole !== null) {
      const isMeant = (one: SandboxPosting) =>
        (whole != null && selects(whole, one)) ||
        (sent !== null && selects(sent, one)) ||
        selects(shown.targeting, one)
      must(selected.every(isMeant), `the daemon widens ${id} from a file that was cut`)
    }
    const isWanted = targeting !== null && isSame(canonical(body.targeting as Targeting), targeting)
    must(isWanted, `the daemon sends another targeting of ${id} than the file's`)
    const other = othersOf(values, shown)
    must(other.length === 0, `the daemon writes ${id}, whose ${other} differs from the file`)
    const isPersons = this.host.store
      .history({ limit: 500 })
      .some(
        (row) =>
          row.by.startsWith('person') &&
          row.body !== null &&
          'targeting' in row.body &&
          (row.campaignId === id || (row.campaignId === null && row.key === key)),
      )
    must(isPersons, `the daemon sends the first targeting of ${id}`)
  }

  #created(one: BookCampaign): void {
    if (this.#pass?.isMadeOtherwise) one.budget = (one.budget ?? 0) + 900
    const name = bare(one.name)
    const alike = [...(this.#named.get(name) ?? [])].filter(
      (id) => this.#isLive(id) && bare(this.world.campaign(id).name) === name,
    )
    must(alike.length === 0, `${name} is created again beside ${alike}`)
    this.#named.set(name, new Set([...alike, one.id]))
    const key = String((one.targeting as Targeting).externalCampaignId)
    const made = this.#made.get(key) ?? new Set()
    const rivals = [...made].filter((id) => this.#isLive(id))
    must(rivals.length === 0, `${key} is created again beside ${rivals}`)
    this.#made.set(key, made.add(one.id))
  }

  #isLive(id: string): boolean {
    const { status, endDate, name } = this.world.campaign(id)
    const isOver = endDate !== null && Date.parse(endDate) < this.world.now
    return status !== 2 && !isOver && markIn(name) !== 'zzzzzzzzzz'
  }

  // The checks after each step.

  async check(): Promise<void> {
    this.#noteListing()
    const bindings = this.host.store.bindings()
    // Only people make a campaign live again. A campaign that moved to another key is not a rival for its first key.
    for (const [key, ids] of this.#made)
      for (const id of ids)
        if (!this.#isLive(id) || bindings.some((one) => one.campaignId === id && one.key !== key))
          ids.delete(id)
    const entries = this.#entries()
    const keys = bindings.flatMap(({ key }) => (entries.has(key) ? [key] : []))
    if (keys.length > 0) this.#checkInLine(await this.host.look(keys), 'read')
  }

  #checkInLine({ judged }: LookResult, where: 'listed' | 'read'): void {
    for (const { entry, state, campaignId } of judged) {
      if (state !== 'in line' || campaignId === null) continue
      const { shape, book } = this.world
      const one = this.world.campaign(campaignId)
      const shown = shape(book.shown(one), where)
      const other = othersOf(entry.values, shown)
      const isNamed =
        shown.name === undefined || isShown('name', shown.name, entry.values.name ?? '')
      must(
        other.length === 0 && isNamed,
        `${entry.key} is in line, and ${other.join() || 'name'} differs`,
      )
      if (entry.targeting === null || book.knobs.echo === null) continue
      const visible = book.knobs.echo(one.targeting as Fields | null)
      const { targeting } = entry
      const wider = POSTINGS.find((each) => selects(visible, each) && !selects(targeting, each))
      must(wider === undefined, `${entry.key} is in line, and what is shown is wider`)
      const isAlike = this.#isShownAlike(one, entry.targeting)
      must(
        isAlike,
        `${entry.key} is in line, and its targeting is ${JSON.stringify(one.targeting)}`,
      )
    }
  }

  /** #isShownAlike returns whether the service shows the current and the wanted targeting in the same way. */
  #isShownAlike({ targeting }: BookCampaign, wanted: Targeting): boolean {
    const [before, after] = [targeting, wanted].map((one) => {
      const echo = this.world.book.knobs.echo?.(one as Fields | null) ?? null
      return JSON.stringify(readTargeting(JSON.parse(JSON.stringify(echo))))
    })
    return before === after
  }

  /** look checks that a look over all entries reports every running campaign, if listings are not late. */
  async look(): Promise<void> {
    if (this.#isLate) return
    const found = await this.host.look()
    this.#checkInLine(found, 'listed')
    const { entries, findings } = found.plan
    const reported = new Set([...entries, ...findings].map(({ campaignId }) => campaignId))
    const candidates = entries.filter(({ reason }) => reason?.includes('campaigns fit this entry'))
    for (const { id, status } of this.world.all)
      if (status === 1 && this.#isLive(id))
        must(reported.has(id) || candidates.length > 0, `campaign ${id} runs, and no line says so`)
  }

  /** #isOdd returns whether the service shows targeting the same before and after a write, as if it ignored it. */
  #isOdd({ campaignId, changes }: PlanItem): boolean {
    const change = changes.find(({ field }) => field === 'targeting')
    if (this.#echo === 'as sent' || change === undefined || campaignId === null) return false
    return this.#isShownAlike(this.world.campaign(campaignId), change.to as Targeting)
  }

  /** settle ends the faults, applies a few times, and checks that then nothing more is written. */
  async settle(): Promise<void> {
    this.#isLate = false
    // An apply stops after a campaign that is not shown as sent, so each entry can need applies of its own.
    const rounds = this.#echo === 'as sent' ? 2 : 3 * KEYS.length
    for (let n = 0; n < rounds; n++) {
      await this.apply(NO_FAULTS)
      await this.daemon(NO_FAULTS)
      await this.check()
      this.pass(HOUR + MINUTE)
      const { entries } = await this.host.plan()
      if (n > 0 && entries.every(({ state }) => state === 'in line')) break
    }
    await this.daemon(NO_FAULTS)
    await this.apply(NO_FAULTS)
    const before = this.world.writes().length
    const { plan, judged } = await this.host.look()
    await this.daemon(NO_FAULTS)
    must(this.world.writes().length === before, 'the daemon writes again and again')
    // A service that drops titles shows less than was sent each time, and each time the apply stops there.
    const isDropped = ({ entry }: LookResult['judged'][number]) =>
      this.#echo === 'without titles' && (entry.targeting?.jobTitles.length ?? 0) > 0
    if (plan.items.some((item) => this.#isOdd(item)) || judged.some(isDropped)) return
    must(plan.items.length === 0, `it never ends: ${JSON.stringify(plan.items)}`)
    await this.apply(NO_FAULTS)
    must(this.world.writes().length === before, 'something is written again and again')
    for (const { entry, state, campaignId } of judged) {
      if (state !== 'in line' || campaignId === null || entry.targeting === null) continue
      const one = this.world.campaign(campaignId)
      const isShown = this.world.book.knobs.echo !== null
      const isKept = isShown
        ? this.#isShownAlike(one, entry.targeting)
        : isSame(canonical(one.targeting ?? {}), entry.targeting)
      must(
        isKept || this.#retargeted.has(campaignId) || (this.#hasForgotten && !isShown),
        `${entry.key} is in line, and its targeting is ${JSON.stringify(one.targeting)}`,
      )
    }
  }
}

function must(isKept: boolean, what: string): void {
  if (!isKept) throw new Error(`a promise is broken: ${what}`)
}

/** othersOf returns the fields, except the name, whose shown value is not the wanted one. */
const othersOf = (values: Entry['values'], shown: Fields) =>
  FIELDS.filter(
    (field) =>
      field !== 'name' &&
      values[field] !== undefined &&
      shown[field] !== undefined &&
      !isShown(field, shown[field], values[field] ?? null),
  )

const NUMBERS: Record<string, number | null> = {
  ...{ running: 1, archived: 2, paused: 3, once: null, monthly: 1 },
}

/** isShown returns whether a raw value of the service equals a value. */
function isShown(field: CampaignField, raw: unknown, value: Value): boolean {
  if (field === 'name') return bare(String(raw)) === bare(String(value))
  if (field === 'status' || field === 'period') return raw === NUMBERS[String(value)]
  if (raw === null || value === null) return raw === value
  if (field === 'autoBidLevel') return raw === value
  if (field !== 'startDate' && field !== 'endDate')
    return Math.abs(Number(raw) * 10_000 - Number(value)) < 0.5
  return Date.parse(`${raw}`.replace(/Z?$/, 'Z')) === Date.parse(String(value))
}

/** valueInPlan reads the text in a line of the plan as a value. */
function valueInPlan(field: CampaignField, text: unknown): Value {
  if (text === null || typeof text !== 'string') return null
  if (field === 'endDate' && text.length === 10) return `${text}T23:59:59Z`
  if (field === 'startDate' && text.length === 10) return `${text}T00:00:00Z`
  return /^\d+\.\d+$/.test(text) ? Math.round(Number(text) * 10_000) : text
}

/** checkPlanned returns the item of the plan that contains this whole body. Throws if there is none. */
function checkPlanned(plan: Plan | null, id: string | null, body: Fields): PlanItem {
  const hasBody = (item: PlanItem) =>
    item.campaignId === id &&
    Object.keys(body).every((name) =>
      item.changes.some(({ field, to }) => {
        if (field !== name) return false
        if (field !== 'targeting') return isShown(field, body[name], valueInPlan(field, to))
        return isSame(canonical(body.targeting as Targeting), canonical(to as Targeting))
      }),
    )
  const item = plan?.items.find(hasBody)
  if (item === undefined)
    throw new Error(`a promise is broken: nobody confirmed ${id} ${JSON.stringify(body)}`)
  return item
}

/** checkLower checks that a body lowers each value that the service shows. */
function checkLower(id: string, body: Fields, shown: Fields): void {
  for (const [field, now] of Object.entries(body)) {
    const before = shown[field]
    if (before === undefined) continue
    const isLess =
      field === 'status'
        ? now === 3
        : field === 'targeting'
          ? POSTINGS.every((one) => !selects(now, one) || selects(before, one))
          : before === null ||
            (now !== null &&
              (Number(now) || Date.parse(String(now))) <
                (Number(before) || Date.parse(`${before}`.replace(/Z?$/, 'Z'))))
    must(isLess, `--lower takes ${field} of ${id} from ${before} to ${now}`)
  }
}

/** bare returns a name without the mark of any key. */
const bare = (name: string): string =>
  KEYS.flatMap((key) => [key, `${key}X`]).reduce(
    (text, key) => nameWithoutMark(text, markOf(IDENTITY, key)),
    nameWithoutMark(name),
  )

/** inBlocks writes each criterion on a line of its own. */
const inBlocks = (file: string) =>
  file.replace(/targeting: \{ (.*) \}/g, (_, list: string) => {
    const lines = list.split(/, (?=\w+:)/).map((line) => `\n      ${line}`)
    return `targeting:${lines.join('')}`
  })

const selects = (targeting: unknown, posting: SandboxPosting) =>
  targetingTest(
    structuredClone(readTargeting(JSON.parse(JSON.stringify(targeting ?? null)))) as Parameters<
      typeof targetingTest
    >[0],
  )(posting)

// The steps, as commands of fast-check.

const EDITS = [
  ...['make', 'make for a key', 'raise', 'lower', 'pause', 'resume', 'archive', 'end'],
  ...['reopen', 'rename', 'hand over', 'narrow', 'widen'],
] as const
const LOSSES = [
  ...(['keep database', 'restore database', 'restore directory'] as const),
  ...(['lose database', 'lose directory'] as const),
] as const

type Step = fc.AsyncCommand<object, Simulation>

const step = (text: string, run: (world: Simulation) => Promise<void> | void): Step => ({
  check: () => true,
  run: async (_, simulation) => {
    await run(simulation)
    await simulation.check()
  },
  toString: () => text,
})

const scripted = (name: string, run: (s: Simulation, given: Script) => Promise<void>) =>
  script.map((given) => step(`${name} ${JSON.stringify(given)}`, (s) => run(s, given)))

const applied = scripted('apply', (s, given) => s.apply(given))
const passed = scripted('daemon', (s, given) => s.daemon(given))
const written = choices.map((all) =>
  step(`file ${fileFor(all, [])}${all.map(({ campaign }) => campaign)}`, (s) => s.write(all)),
)
const targetings = fc.array(fc.constantFrom(...TARGETINGS), { minLength: 1, maxLength: 3 })
const retargeted = fc.tuple(targetings, script).map(([all, given]) =>
  step(`file ${all.join(' ')}, daemon ${JSON.stringify(given)}`, async (s) => {
    s.retarget(all)
    await s.daemon(given)
  }),
)
const waited = fc
  .constantFrom(SECOND, MINUTE, 10 * MINUTE, 30 * MINUTE, 65 * MINUTE)
  .map((ms) => step(`wait ${ms / MINUTE} min`, (s) => s.pass(ms)))

const STEPS = [
  ...[applied, applied, passed, passed, written, retargeted, retargeted, waited],
  fc
    .tuple(script, fc.nat(9))
    .map(([given, n]) => step(`apply KEY ${n} ${JSON.stringify(given)}`, (s) => s.apply(given, n))),
  fc.constant(step('plan', (s) => s.plan())),
  scripted('apply --plan', (s, given) => s.applyOld(given)),
  scripted('apply --lower', (s, given) => s.lower(given)),
  fc.constant(step('file as before', (s) => s.takeBack())),
  fc
    .tuple(fc.nat(9), fc.constantFrom(...EDITS))
    .map(([n, what]) => step(`service ${n} ${what}`, (s) => s.edit(n, what))),
  fc
    .tuple(choices, fc.integer({ min: 20, max: 99 }), script)
    .map(([all, share, given]) =>
      step(`file cut at ${share} %, daemon ${JSON.stringify(given)}: ${fileFor(all, [])}`, (s) =>
        s.cut(all, share / 100, given),
      ),
    ),
  scripted('apply --plan twice', (s, given) => s.again(given)),
  fc.nat(9).map((n) => step(`key ${n} corrected`, (s) => s.renameKey(n))),
  fc.nat(9).map((n) => step(`forget ${n}`, (s) => s.forget(n))),
  fc.constantFrom(...LOSSES).map((what) => step(what, (s) => s.database(what))),
  fc
    .tuple(
      fc.constantFrom(...(Object.keys(SHAPES) as (keyof typeof SHAPES)[])),
      ...[fc.boolean(), fc.boolean()],
    )
    .map(([shape, isEchoed, isLate]) =>
      step(
        `service shows ${shape}${isEchoed ? ', targeting' : ''}${isLate ? ', late lists' : ''}`,
        (s) => s.show(shape, { isEchoed, isLate }),
      ),
    ),
  fc
    .tuple(script, fc.constantFrom('database' as const, 'directory' as const))
    .map(([given, part]) =>
      step(`apply ${JSON.stringify(given)}, ${part} put back`, (s) => s.putBack(given, part)),
    ),
  fc.constant(step('look', (s) => s.look())),
]

const WAYS = fc.record({
  echo: fc.constantFrom<Echo[]>('as sent', 'as sent', 'without titles', 'in capitals'),
  naming: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Naming>('as sent') },
    { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(NAMES) as Naming[])) },
  ),
})

/**
 * explore runs `numRuns` random histories. If one breaks a promise, it throws the seed and the shortest such history.
 */
export async function explore(
  numRuns: number,
  seed: number,
  mutation: Mutation | null = null,
): Promise<typeof sum> {
  const sum = { sequences: 0, passes: 0, writes: 0, kept: 0, faults: 0, kills: 0 }
  const steps = fc.commands(STEPS, { maxCommands: 24, size: 'max' })
  await fc.assert(
    fc.asyncProperty(choices, WAYS, fc.boolean(), steps, async (all, ways, isOld, commands) => {
      const simulation = new Simulation(all, ways, mutation ?? {})
      try {
        if (isOld) await simulation.age()
        await fc.asyncModelRun(() => ({ model: {}, real: simulation }), commands)
        await simulation.settle()
      } catch (error) {
        const file = process.env.FEEDSYNCD_MODEL_TELL
        if (file !== undefined) writeFileSync(file, `${error}\n${simulation.story()}`)
        throw error
      } finally {
        sum.sequences++
        for (const [name, n] of Object.entries(simulation.figures)) sum[name as 'passes'] += n
        simulation.close()
      }
    }),
    { numRuns, seed, endOnFailure: mutation !== null },
  )
  return sum
}
