// What a look finds out about an entry of the file, and the facts that it is judged by.

import { commandFor, hintWith } from '../domain/command.ts'
import type { Entry } from './desired.ts'
import { type FieldChange, NOTHING_KNOWN } from './field-changes.ts'
import { isOpen } from './open-creation.ts'
import type { CampaignWrite, KnownCampaign } from './port.ts'
import { type Memory, type Seen, UnboundCampaigns } from './seen.ts'
import type { Campaign } from './service/port.ts'

export type EntryState = 'new' | 'in line' | 'differs' | 'pending' | 'unknown' | 'blocked'
export const needsPerson = (state: EntryState) => state !== 'in line' && state !== 'pending'

export interface PlannedAction {
  /** null if the campaign is created. */
  campaignId: string | null
  action: 'bind' | 'create' | 'update'
  /** Empty if the campaign is only bound and nothing is sent. */
  changes: FieldChange[]
}

/** JudgedEntry is an entry with what a look found out about it. */
export interface JudgedEntry {
  entry: Entry
  state: EntryState
  /** null if no campaign was found, or if it could not be read. */
  campaign: Campaign | null
  campaignId: string | null
  /** What we sent to the campaign, and how the service shows it. */
  known: KnownCampaign
  /** Why the entry is `unknown` or `blocked`, or why the daemon repeats a targeting; null in other states. */
  reason: string | null
  /** The next step, which is a command to paste or an edit; null if no step is needed. */
  next: string | null
  action: PlannedAction | null
}

export const PLAN = hintWith(null, commandFor('campaigns plan'))

/** LookInput is what a look read. */
interface LookInput {
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

/** Scene is what an entry is judged by. */
export interface Scene extends LookInput {
  /** The keys of all entries of the file. */
  keys: ReadonlySet<string>
  /** The campaign ids that entries of the file name. */
  namedIds: ReadonlySet<string>
  /** The open creations of all keys. */
  open: readonly CampaignWrite[]
  unbound: UnboundCampaigns
}

/** sceneOf returns what entries are judged by, with the campaigns that were read until now. */
export function sceneOf(input: LookInput): Scene {
  const { entries, memory, seen, now } = input
  return {
    ...input,
    keys: new Set(entries.map(({ key }) => key)),
    namedIds: new Set(entries.flatMap(({ campaignId }) => campaignId ?? [])),
    open: [...memory.openCreations.values()].flat().filter((one) => isOpen(one, now)),
    unbound: new UnboundCampaigns(seen, new Set(memory.byId.keys()), now),
  }
}

/** EntryJudgement is what is known of a judged entry. A field is absent if its value is not known or does not exist. */
interface EntryJudgement extends Partial<Omit<JudgedEntry, 'entry' | 'known'>> {
  state: EntryState
  known?: KnownCampaign | undefined
}

/** judged completes a judgement. The next step of a `new` or `differs` entry is `campaigns apply` with its key. */
export function judged(
  entry: Entry,
  { known = NOTHING_KNOWN, ...found }: EntryJudgement,
): JudgedEntry {
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

/** blocked returns an entry that waits for a person, and the step that unblocks it. */
export function blocked(entry: Entry, reason: string, next: string): JudgedEntry {
  return judged(entry, { state: 'blocked', reason, next })
}
