// Owns the state of each entry: which campaign belongs to the entry, what differs, and the one next step. Pure.

import { commandFor, hintWith } from '../domain/command.ts'
import { isoTime } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import {
  type Change,
  changeOf,
  changesOf,
  currentValue,
  isMonthly,
  NOTHING_KNOWN,
} from './changes.ts'
import type { Entry } from './desired.ts'
import { FIELDS, isFixed, isLive, shownValue } from './fields.ts'
import { hasMark, markOf, markOn } from './mark.ts'
import { isOpen, LATE_MS, ofKey, openText, repeatText } from './open-create.ts'
import type { Binding, CampaignWrite, KnownCampaign } from './port.ts'
import { idAndName, type Memory, type Seen, UnboundCampaigns } from './seen.ts'
import { isDaemons, sentOf } from './sent.ts'
import type { Campaign } from './service/port.ts'
import { briefTargeting, canonical, isSame } from './targeting.ts'

export type EntryState = 'new' | 'in line' | 'differs' | 'pending' | 'unknown' | 'blocked'
export const needsPerson = (state: EntryState) => state !== 'in line' && state !== 'pending'

export interface PlannedAction {
  /** null: the campaign is created. */
  campaignId: string | null
  action: 'bind' | 'create' | 'update'
  /** Empty: the campaign is only bound, and nothing is sent. */
  changes: Change[]
}

/** Judged is an entry with what a look found out about it. */
export interface Judged {
  entry: Entry
  state: EntryState
  /** null: no campaign was found, or it could not be read. */
  campaign: Campaign | null
  campaignId: string | null
  /** What we sent to the campaign, and how the service shows it. */
  known: KnownCampaign
  /** Why the entry is `unknown` or `blocked`, or why the daemon repeats a targeting; null in other states. */
  reason: string | null
  /** The one next step: a command to paste, or an edit; null: none is needed. */
  next: string | null
  action: PlannedAction | null
}

const PLAN = hintWith(null, commandFor('campaigns plan'))

export interface JudgeInput {
  entries: readonly Entry[]
  memory: Memory
  seen: Seen
  /** The identity of the account; marks are made from it. */
  identity: string
  /** The daemon writes targeting (`campaigns.mode: targeting`). */
  keepsTargeting: boolean
  /** Wall ms. */
  now: number
}

const UNBOUND = { accountId: null, startDate: null, mark: null }

/** reasonNotToWrite returns why we must not write a campaign: not the bound one, or archived; null: we may write. */
export function reasonNotToWrite(
  campaign: Campaign,
  {
    ours,
    campaignId: id,
    bound,
  }: {
    /** The mark of the entry. */
    ours: string
    campaignId: string
    bound: Binding | null
  },
): string | null {
  const { accountId, startDate, mark } = bound ?? UNBOUND
  if (campaign.id !== id) return `the service returned campaign ${campaign.id} for the id ${id}`
  if (accountId !== null && campaign.accountId != null && campaign.accountId !== accountId)
    return `campaign ${id} belongs to the account ${campaign.accountId}, but the bound campaign belonged to ${accountId}`
  const started = shownValue(campaign, 'startDate')
  if (startDate !== null && typeof started === 'string' && started !== startDate)
    return `campaign ${id} starts at ${started}, but the bound campaign started at ${startDate}`
  const shown = markOn(campaign.name, ours)
  if (shown !== null && shown !== ours && shown !== mark)
    return `the name of campaign ${id} carries the mark of another entry: ${campaign.name}`
  return shownValue(campaign, 'status') === 'archived'
    ? `campaign ${idAndName(campaign)} is archived`
    : null
}

export class Judge {
  readonly unbound: UnboundCampaigns
  readonly #input: JudgeInput
  readonly #keys: ReadonlySet<string>
  /** The campaign ids that entries of the file name. */
  readonly #namedIds: ReadonlySet<string>
  /** The creates of all keys whose campaign may still appear. */
  readonly #open: readonly CampaignWrite[]

  constructor(input: JudgeInput) {
    this.#input = input
    this.#keys = new Set(input.entries.map(({ key }) => key))
    this.#namedIds = new Set(input.entries.flatMap(({ campaignId }) => campaignId ?? []))
    const { seen, memory, now } = input
    this.#open = [...memory.openCreates.values()].flat().filter((one) => isOpen(one, now))
    this.unbound = new UnboundCampaigns(seen, new Set(memory.byId.keys()), now)
  }

  judge(entry: Entry): Judged {
    const { memory } = this.#input
    const bound = memory.byKey.get(entry.key)
    const id = entry.campaignId ?? bound?.campaignId
    return id === undefined ? this.#judgeUnbound(entry) : this.#judgeById(entry, id)
  }

  /** #judgeById judges an entry whose campaign the file or the database names. */
  #judgeById(entry: Entry, id: string): Judged {
    const { memory, seen, identity } = this.#input
    const { key } = entry
    const owner = memory.byId.get(id)
    const isBound = owner?.key === key
    const forget = isBound ? hintWith(null, commandFor('campaigns forget <key>', key)) : null
    const correct = `correct campaignId in the entry ${key}`
    const blocked = (reason: string, next: string): Judged =>
      judged(entry, { state: 'blocked', campaignId: id, reason, next, known: owner })
    if (owner !== undefined && !isBound && this.#keys.has(owner.key))
      return blocked(`campaign ${id} belongs to the entry ${owner.key}`, correct)
    const campaign = seen.campaign(id)
    if (campaign === undefined) {
      const why = seen.readFailure(id)
      if (why !== null) return blocked(`campaign ${id} cannot be read: ${why}`, PLAN)
    }
    if (campaign == null) return blocked(`campaign ${id} is gone`, forget ?? correct)
    const ours = markOf(identity, key)
    const untouchable = reasonNotToWrite(campaign, { ours, campaignId: id, bound: owner ?? null })
    if (untouchable !== null) return blocked(untouchable, forget ?? correct)
    const known = owner ?? this.#unboundKnown(key, campaign)
    const changes = changesOf(entry, campaign, known)
    const fixed = changes.find(({ field }) => field !== 'targeting' && isFixed(field))
    if (fixed !== undefined) {
      const { field, from, to } = fixed
      const reason = `the service does not change ${field} after creation: the campaign has ${from ?? 'none'}, the file says ${to}`
      const write = from == null ? `leave ${field} out` : `write ${field}: ${from}`
      return { ...blocked(reason, `${write} in the entry ${key}`), campaign }
    }
    const found = { campaign, campaignId: id, known }
    if (!isBound)
      return judged(entry, {
        ...found,
        state: 'new',
        action: { campaignId: id, action: 'bind', changes },
      })
    if (changes.length === 0) return judged(entry, { ...found, state: 'in line' })
    const isPending = this.#isPending(entry, owner, changes)
    // The daemon repeats what a person or the daemon sent already: this is no new line of the plan.
    const { targeting } = owner.sent
    const isRepeat =
      isPending && targeting !== null && isSame(entry.targeting ?? canonical({}), targeting)
    const isNew = ({ field }: Change) => !isRepeat || field !== 'targeting'
    const open = changes.filter(isNew)
    const action = { campaignId: id, action: 'update', changes: open } as const
    return judged(entry, {
      ...found,
      state: isPending ? 'pending' : 'differs',
      reason: isRepeat ? repeatText(owner) : null,
      action: open.length === 0 ? null : action,
    })
  }

  /** #unboundKnown returns the mark, and what we sent if a create without an answer made this campaign. */
  #unboundKnown(key: string, { name }: Campaign): KnownCampaign {
    const { memory, identity } = this.#input
    const create = memory.openCreates.get(key)?.at(-1)
    const ours = markOf(identity, key)
    const known = { ...NOTHING_KNOWN, mark: markOn(name, ours) }
    return create === undefined || !hasMark(name, ours)
      ? known
      : { ...known, sent: sentOf(create.body ?? {}) }
  }

  /** #isPending returns whether the daemon is about to write the targeting. */
  #isPending(
    { targeting }: Entry,
    { sent, repeatAt }: Binding,
    changes: readonly Change[],
  ): boolean {
    if (!this.#input.keepsTargeting || targeting === null || sent.targeting === null) return false
    if (!isDaemons(targeting)) return false
    const isOther = !isSame(targeting, sent.targeting) || repeatAt !== null
    return isOther && changes.every(({ field }) => field === 'targeting' || field === 'name')
  }

  /** #judgeUnbound looks for the campaign of an entry that has none yet. */
  #judgeUnbound(entry: Entry): Judged {
    const { memory, seen, identity } = this.#input
    const { key } = entry
    const mark = markOf(identity, key)
    const blocked = (reason: string, next: string, campaign?: Campaign): Judged =>
      judged(entry, { state: 'blocked', reason, next, campaign: campaign ?? null })
    const isFree = ({ id }: Campaign) => !memory.released.has(id) && !this.#namedIds.has(id)
    const carrying = this.unbound.byCarriedId(key).filter(isFree)
    const candidates = carrying.length > 0 ? carrying : this.unbound.byMark(mark).filter(isFree)
    const [only, another] = candidates
    if (seen.incomplete !== null)
      return blocked(`the listing is not complete: ${seen.incomplete}`, PLAN)
    if (only !== undefined && another !== undefined)
      return blocked(
        `${candidates.length} campaigns may belong to this entry: ${candidates.slice(0, 5).map(idAndName).join(', ')}`,
        `write campaignId: "${only.id}" into the entry ${key}, or the id of another one`,
      )
    if (only !== undefined) {
      const untouchable = reasonNotToWrite(only, { ours: mark, campaignId: only.id, bound: null })
      const next = `correct the targeting of campaign ${only.id} on the service, or the key in the file`
      if (untouchable !== null) return blocked(untouchable, next, only)
      return this.#judgeById(entry, only.id)
    }
    return this.#judgeNew(entry, blocked)
  }

  /** #movedFrom finds a live campaign with this name whose key left the file: a person may have corrected the key. */
  #movedFrom(name: string) {
    const { memory, seen, now } = this.#input
    for (const bound of memory.byId.values()) {
      const campaign = this.#keys.has(bound.key) ? null : seen.campaign(bound.campaignId)
      const isAlike = campaign != null && currentValue(campaign, bound, 'name') === name
      if (isAlike && isLive(campaign, now)) return { key: bound.key, campaign }
    }
    return null
  }

  #judgeNew(entry: Entry, blocked: (reason: string, next: string) => Judged): Judged {
    const { memory, seen, identity, now } = this.#input
    const { key, values, targeting } = entry
    const open = this.#open.findLast((one) => one.key === key)
    const alikeOpen = this.#open.find((one) => nameIn(one) === values.name)
    const until = (one: CampaignWrite) => isoTime(one.at + LATE_MS)
    if (open !== undefined)
      return judged(entry, {
        state: 'unknown',
        reason: `${openText(open, 'this campaign')}: it can be created again after ${until(open)} if no listing shows it`,
        next: `wait; if you find the campaign on the service, write its campaignId into the entry ${key}`,
      })
    if (alikeOpen !== undefined)
      return blocked(
        openText(alikeOpen, `a campaign with this name${ofKey(alikeOpen)}`),
        `wait until ${until(alikeOpen)}; if you find the campaign on the service, write its campaignId into the entry ${key}`,
      )
    const released = [...memory.released].flatMap(([id, from]) => (from === key ? id : []))
    const unread = [...memory.released.keys()].find((id) => seen.readFailure(id) !== null)
    if (unread !== undefined)
      return blocked(
        `the forgotten campaign ${unread} cannot be read: ${seen.readFailure(unread)}`,
        PLAN,
      )
    const bind = (id: string) => `write campaignId: "${id}" into the entry ${key}`
    const former = this.unbound.live.find(({ id }) => released.includes(id))
    const [marked] = this.unbound.byMark(markOf(identity, key))
    const rival = former ?? marked
    if (rival !== undefined)
      return blocked(
        `campaign ${idAndName(rival)} ${former === undefined ? 'carries our mark' : 'was forgotten'} and is still live: a new campaign would spend in addition`,
        `end the campaign on the service, or ${bind(rival.id)}`,
      )
    const missing = (['name', 'budget'] as const).find((field) => values[field] === undefined)
    if (missing !== undefined || targeting === null) {
      const what = missing ?? 'targeting'
      return blocked(
        `a campaign is not created without ${what}`,
        `write ${what}: into the entry ${key}`,
      )
    }
    const moved = this.#movedFrom(String(values.name))
    const alike = moved?.campaign ?? this.unbound.byName(String(values.name))[0]
    const owner = moved === null ? 'no entry' : `the entry ${moved.key}, which left the file`
    if (alike !== undefined)
      return blocked(
        `campaign ${idAndName(alike)} has this name and belongs to ${owner}`,
        `${bind(alike.id)}, or give the entry another name`,
      )
    const [cut] = (memory.openCreates.get(key) ?? []).flatMap(({ body }) =>
      this.unbound.cutFrom(String(Object(body).name)),
    )
    if (cut !== undefined)
      return blocked(
        `the service may have cut the name of a campaign that feedsyncd sent: campaign ${idAndName(cut)} belongs to no entry`,
        `${bind(cut.id)}, or give campaign ${cut.id} another name on the service`,
      )
    const { restoredAt } = memory
    if (restoredAt !== null && isRecent(restoredAt, now, LATE_MS))
      return blocked(
        `the database was restored from an older copy and may not know of a create: the campaign can be created after ${isoTime(restoredAt + LATE_MS)}`,
        hintWith('wait, then', commandFor('campaigns plan')),
      )
    const fields = FIELDS.flatMap((field): Change[] => {
      const want = values[field]
      if (want == null) return []
      const monthly = field === 'budget' && isMonthly(entry, null) && { isMonthly: true as const }
      return [{ ...changeOf(field, null, want), spend: 'up', ...monthly }]
    })
    const to = briefTargeting(targeting)
    const changes: Change[] = [...fields, { field: 'targeting', from: null, to, spend: 'up' }]
    const action = { campaignId: null, action: 'create', changes } as const
    return judged(entry, { state: 'new', action })
  }
}

const nameIn = ({ body }: CampaignWrite) => sentOf(body ?? {}).values.name

type Found = Partial<Omit<Judged, 'entry' | 'known'>> & {
  state: EntryState
  known?: KnownCampaign | undefined
}

function judged(entry: Entry, { known = NOTHING_KNOWN, ...found }: Found): Judged {
  const waits = found.state === 'new' || found.state === 'differs'
  const next = waits ? hintWith(null, commandFor('campaigns apply <key...>', [entry.key])) : null
  return {
    entry,
    campaign: null,
    campaignId: null,
    reason: null,
    next,
    action: null,
    known,
    ...found,
  }
}
