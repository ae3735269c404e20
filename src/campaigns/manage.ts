// Plans what is written to a campaign that belongs to an entry. Its reductions are items at once; what can
// raise spending is judged later, and held by a reason and the one command that decides. Pure.

import { isoTime, MINUTE } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import type { Campaign } from '../service/port.ts'
import { compare, type Difference, type Goal, type Part, valueNow } from './compare.ts'
import type { DesiredCampaign, Removal } from './desired.ts'
import { selectionOf } from './effects.ts'
import type { Field, Values } from './fields.ts'
import { type MaySpend, maySpendWith, showMoney } from './ledger.ts'
import { COMMAND, type Held, heldBy, later, type PlanItem, quoted } from './plan.ts'
import { type Planning, whyNotGone } from './planning.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { agreedBudget, goalOf, whyForeign } from './record.ts'

/** After a PUT without an answer: it may still arrive, on top of a later one. */
const LATE_ARRIVAL = 2 * MINUTE

/** The campaign of a record, or why nothing can be written to it. */
export function campaignOf(planning: Planning, record: CampaignRecord): Campaign | Held {
  const { key, campaignId } = record
  const campaign = planning.campaigns.get(campaignId)
  const { failed, read } = planning.input.seen
  // A list may show what cannot be read: a write is then not sent either.
  const problem = failed.get(campaignId)
  if (problem !== undefined) return later(problem)
  if (campaign === undefined || read.get(campaignId) === null) {
    const reason = `campaign ${campaignId} is not found on the service; it is not made again`
    const needs = `${COMMAND} create ${quoted(key)} --new makes another one, once it is gone for an hour`
    // It may only be hard to find: that word is taken once it is gone for an hour.
    return heldBy('lost', reason, needs, '', whyNotGone(record, planning.input.now) !== null)
  }
  const foreign = whyForeign(record, campaign)
  if (foreign === null) return campaign
  const needs = `${COMMAND} forget ${quoted(key)}, then name the right campaign`
  return heldBy('foreign', `${foreign}; nothing is written to it`, needs)
}

export const isHeld = (found: Campaign | Held): found is Held => 'code' in found

/** How the file comes to say what the service shows; null: it cannot. */
const writeIt = ({ edit }: Difference) => (edit === null ? null : `write ${edit} into the file`)
const either = (edit: string | null, command: string) =>
  edit === null ? command : `${edit}, or: ${command}`

/** A campaign of an entry as it was seen, and what is planned for it. */
export class UpdatePlanner {
  readonly #planning: Planning
  readonly #record: CampaignRecord
  readonly #campaign: Campaign
  readonly #open: readonly CampaignWrite[]

  constructor(planning: Planning, record: CampaignRecord, campaign: Campaign) {
    this.#planning = planning
    this.#record = record
    this.#campaign = campaign
    this.#open = planning.openOf(record.campaignId)
  }

  /** As the entry says. `approval`: the daemon waits for a person, since the campaign was not ours before. */
  follow(entry: DesiredCampaign, approval: boolean): void {
    const { key, campaignId, doubt } = this.#record
    const { ledger, input, raises } = this.#planning
    const found = this.#compare(goalOf(entry, this.#record))
    const { reduce, neutral, raise, differences } = found
    this.#report(differences, writeIt)
    const parts = [reduce, neutral, raise].filter((part) => part !== null)
    if (parts.length + differences.length === 0) this.#planning.unchanged++
    if (reduce !== null) this.#reduce(reduce, { approval })
    const isArchived = this.#now('status') === 'archived'
    const needs = 'have it resumed there first'
    const archived = isArchived
      ? heldBy('state', 'it is archived on the service', needs, 'archived')
      : null
    if (neutral !== null) this.#add(neutral, { approval, held: archived })
    if (raise === null) {
      if (doubt !== null) this.#planning.hold(key, campaignId, this.#unverified(doubt))
      return
    }
    // A raise is counted on top of what the entry lowers.
    const lowered = input.countsReductions ? reduce?.values : {}
    const after = this.#spendsAfter({ ...lowered, ...raise.values })
    raises.push(() => {
      const before = ledger.get(campaignId)
      const why = archived ?? this.#whyNotRaised(raise, differences)
      const held = why ?? this.guardAgainst(raise, after)
      this.#add(raise, { held, approval: approval || raise.isBlind, before, after })
    })
  }

  /** As `removed` says; an end that came earlier is as good. */
  end({ endDate }: Removal): void {
    const { reduce, differences } = this.#compare({ values: { endDate }, isEnd: true })
    const isLater = ({ kind, service, file }: Difference) =>
      kind !== 'conflict' && (service === 'no end' || service > file)
    this.#report(differences.filter(isLater), () => 'move it from removed: to campaigns:')
    if (reduce === null) this.#planning.unchanged++
    else this.#reduce(reduce, { why: 'listed under removed' })
  }

  /** A person asked for a successor: the campaign is paused. Answers whether it is known to have stopped. */
  stop(): boolean {
    const status = this.#now('status')
    const isStopped = status === 'paused' || status === 'archived'
    if (isStopped || this.#planning.isOver(this.#record)) return true
    const { written } = this.#record
    const running: CampaignRecord = { ...this.#record, written: { ...written, status: 'running' } }
    const { reduce } = compare({ values: { status: 'paused' } }, running, this.#campaign, [])
    if (reduce !== null) this.#add(reduce, { why: 'its successor takes its place' })
    return false
  }

  /** Counts a raise and answers null, or answers the guard that refuses it. */
  guardAgainst(
    { targeting, values }: Pick<Part, 'targeting' | 'values'>,
    after = this.#spendsAfter(values),
  ): Held | null {
    const { ledger, input } = this.#planning
    const { effects } = input
    const selected = targeting === null ? null : selectionOf(effects, this.#record, targeting)
    const { campaignId } = this.#record
    return (
      ledger.share(selected, effects) ??
      ledger.raise(campaignId, after, [this.#now('budget'), agreedBudget(this.#record)], values)
    )
  }

  #compare(goal: Goal) {
    return compare(goal, this.#record, this.#campaign, this.#open)
  }

  #now(field: Field) {
    return valueNow(this.#record, this.#campaign, field)
  }

  #reduce(part: Part, state: Partial<Pick<PlanItem, 'approval' | 'why'>>): void {
    this.#add(part, state)
    const { ledger, input } = this.#planning
    if (input.countsReductions && !state.approval)
      ledger.set(this.#record.campaignId, this.#spendsAfter(part.values))
  }

  /** What it may spend once it has these values and nothing else happened. */
  #spendsAfter(values: Values): MaySpend {
    const after = (field: Field) =>
      values[field] === undefined ? (this.#now(field) ?? null) : values[field]
    if (after('status') === 'archived') return 0
    const period = after('period') ?? 'monthly'
    const { now } = this.#planning.input
    return maySpendWith({ budget: after('budget'), endDate: after('endDate'), period }, now)
  }

  #add(
    { isBlind: _, ...part }: Part,
    rest: Partial<Pick<PlanItem, 'held' | 'approval' | 'why'>> & {
      before?: MaySpend | undefined
      after?: MaySpend
    },
  ): void {
    const { key, campaignId } = this.#record
    const { ledger, input } = this.#planning
    const now = ledger.get(campaignId)
    const { before = now, after = this.#spendsAfter(part.values), ...state } = rest
    const { targeting } = part
    this.#planning.add({
      ...{ key, campaignId, action: 'update', method: 'PUT', why: 'the file changed' },
      ...{ ...part, ...state },
      money: { before: showMoney(before ?? null), after: showMoney(after) },
      postings: targeting === null ? null : selectionOf(input.effects, this.#record, targeting),
    })
  }

  /** `editOf`: as `writeIt`. */
  #report(
    differences: readonly Difference[],
    editOf: (difference: Difference) => string | null,
  ): void {
    const { key, campaignId } = this.#record
    const hold = (code: Held['code'], reason: string, needs: string) =>
      this.#planning.hold(key, campaignId, heldBy(code, reason, needs))
    for (const difference of differences) {
      const { field, file, service, kind } = difference
      const edit = editOf(difference)
      const needs = either(edit, this.#revert)
      if (kind === 'fixed') {
        const reason = `${field}: ${service} cannot become ${file}: the service does not allow changing this after creation`
        hold(kind, reason, this.#keepOrSucceed(difference))
      } else if (kind === 'conflict') {
        const reason = `${field}: the file says ${file} now, and it was changed on the service to ${service}`
        hold(kind, reason, needs)
      } else {
        const isReported = kind !== 'kept'
        this.#planning.findings.push({
          ...{ key, campaignId, code: kind, maySpend: null, isReported },
          text: `${field} was changed on the service from ${file} to ${service}; it is left alone`,
          needs: isReported ? `${needs}, or ${COMMAND} resolve ${quoted(key)} --accept` : null,
        })
      }
    }
  }

  #whyNotRaised(raise: Part, differences: readonly Difference[]): Held | null {
    const { absence, campaigns, input, truncated } = this.#planning
    const { key, campaignId, doubt, past, written } = this.#record
    if (truncated !== null) return truncated
    const fixed = differences.find(({ kind }) => kind === 'fixed')
    // Later dates and more money may be meant for a successor: this campaign would spend at once, or each month.
    if (fixed !== undefined) {
      const reason = `${fixed.field} cannot become ${fixed.file}, so nothing is raised`
      return heldBy('fixed', reason, this.#keepOrSucceed(fixed), 'raise')
    }
    const twins = absence.marked(key).map(({ id }) => id)
    if (twins.length > 0) {
      const reason = `the campaigns ${[campaignId, ...twins].join(', ')} all carry the mark of this entry`
      const needs = `have all but one archived on the service, then for each of these: ${COMMAND} forget ID`
      return heldBy('twin', reason, needs)
    }
    const again = past
      .flatMap((id) => campaigns.get(id) ?? [])
      .find((one) => this.#planning.runs(one))
    if (again !== undefined) {
      const reason = `campaign ${again.id}, which came before it, runs again`
      return heldBy('twin', reason, 'pause or archive it on the service', 'earlier one')
    }
    if (doubt !== null) return this.#unverified(doubt)
    const isPaused = this.#now('status') === 'paused'
    if (isPaused && written.status !== 'paused' && raise.values.status === undefined) {
      const isInFile = differences.some(({ field }) => field === 'status')
      const way = isInFile ? this.#revert : 'write status: running into the entry'
      const reason = 'it is paused on the service, so nothing is raised'
      return heldBy('state', reason, `${way}, or have it resumed there`, 'paused')
    }
    const isOther = (body: unknown) => JSON.stringify(body) !== JSON.stringify(raise.body)
    const young = this.#open.find(
      ({ at, body }) => isRecent(at, input.now, LATE_ARRIVAL) && isOther(body),
    )
    if (young !== undefined) {
      const until = isoTime(young.at + LATE_ARRIVAL)
      return later(`an earlier write may still arrive; nothing else is raised before ${until}`)
    }
    const state = input.effects.stateOf(key)
    if (state.kind === 'vanished') {
      const reason = `gone from ${state.uploads} feeds in a row, so nothing is raised`
      return heldBy(
        'state',
        reason,
        'have the feed carry it again, or end the campaign under removed:',
        'vanished',
      )
    }
    const widens = raise.changes.find((change) => change.widens)
    if (widens === undefined || input.allowWiden.has(key)) return null
    const reason = `the last value of ${widens.path} goes: ${widens.before} -> any`
    return heldBy('widen', reason, `${COMMAND} apply --yes --allow-widen ${quoted(key)}`)
  }

  get #revert(): string {
    return `${COMMAND} resolve ${quoted(this.#record.key)} --revert`
  }

  #keepOrSucceed(fixed: Difference): string {
    const { key, campaignId } = this.#record
    const successor = `${COMMAND} create ${quoted(key)} --new stops campaign ${campaignId} and makes a successor as the file says`
    return either(writeIt(fixed), successor)
  }

  #unverified(doubt: string): Held {
    const { key } = this.#record
    const needs = `look at it on the service, then: ${COMMAND} resolve ${quoted(key)} --checked`
    return heldBy('doubt', doubt, needs)
  }
}
