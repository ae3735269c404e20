// Compares three values of each field: what the file wants, what file and service last agreed on, and
// what the service shows now. Pure. Unknown is not null: what is not shown is as it was written last, and
// what was sent without an answer may be there as well.

import type { Campaign, CampaignUpdate } from '../service/port.ts'
import {
  canRaise,
  direction,
  FIELDS,
  type Field,
  fileText,
  isFixed,
  overall,
  rawOf,
  readValue,
  type Spend,
  showValue,
  type Value,
  type Values,
  wireOf,
} from './fields.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import {
  type CanonicalTargeting,
  type Change,
  canonical,
  isSame,
  onTheWire,
  readTargeting,
  targetingChanges,
} from './targeting.ts'

/** What an entry wants of its campaign; `name` with its token. */
export interface Goal {
  values: Values
  targeting?: CanonicalTargeting
  /** Listed under removed: an end that is not known is none. */
  isEnd?: true
}

/** One write: fields that go together. */
export interface Part {
  spend: Spend
  changes: Change[]
  body: CampaignUpdate
  /** What is there before: the fields of the body as the service shows them, and what else it rests on. */
  before: Readonly<Record<string, unknown>>
  /** What file and service agree on once it is done. */
  values: Values
  targeting: CanonicalTargeting | null
  /** The targeting that it replaces is not known. */
  isBlind: boolean
}

/** A difference that is not written. */
export interface Difference {
  field: Field | 'targeting'
  file: string
  service: string
  /** The service's value as JSON text. */
  raw: string
  /** The service's value as the file says it; null: it cannot. */
  edit: string | null
  kind: /** It was changed on the service alone. */
    | 'drift'
    /** And a person said that it may stay so. */
    | 'kept'
    /** The file changed too. */
    | 'conflict'
    /** The service does not allow changing it after creation. */
    | 'fixed'
}

export interface Comparison {
  reduce: Part | null
  /** Changes that cannot spend more, such as the name. */
  neutral: Part | null
  raise: Part | null
  differences: Difference[]
  /** What is there as the file wants it, and is not written down as agreed, or a word about it is. */
  agreed: Pick<Part, 'values' | 'targeting'>
}

/** A field that is not as the file wants it. */
interface Step extends Omit<Difference, 'kind'> {
  kind: Difference['kind'] | 'write'
  changes: Change[]
  spend: Spend
  wire: unknown
  value?: Value
  targeting?: CanonicalTargeting
  isBlind?: boolean
}

type NowKnown = readonly [Campaign, readonly CampaignWrite[]]
type Known = readonly [CampaignRecord, ...NowKnown]

/** Of what was read before a write, beside the fields of its body: what its spend effect rests on. */
const RESTS_ON = ['budget', 'endDate', 'status'] as const

export function compare(goal: Goal, owned: CampaignRecord, ...now: NowKnown): Comparison {
  const record = goal.isEnd ? { ...owned, written: { endDate: null, ...owned.written } } : owned
  const [campaign] = now
  const known: Known = [record, ...now]
  const steps: Step[] = []
  const agreed: Comparison['agreed'] = { values: {}, targeting: null }
  // Archived is ended, and a service may refuse to change it. Once somebody resumes it, the end is written.
  const isEnded = goal.isEnd && valueNow(record, campaign, 'status') === 'archived'
  for (const field of FIELDS) {
    const want = goal.values[field]
    if (want === undefined || isEnded) continue
    const step = fieldStep(field, want, ...known)
    if (step === 'same') {
      if (record.written[field] !== want || record.said[field] !== undefined)
        agreed.values[field] = want
    } else if (step !== null) steps.push(step)
  }
  const targeting = goal.targeting ?? (record.uncertain.length > 0 ? record.targeting : null)
  const step = targeting === null ? null : targetingStep(targeting, ...known)
  if (step === 'agreed') agreed.targeting = targeting
  else if (step !== null) steps.push(step)
  const part = (isMeant: (spend: Spend) => boolean, lowered: Values = {}): Part | null => {
    const its = steps.filter(({ kind, spend }) => kind === 'write' && isMeant(spend))
    if (its.length === 0) return null
    const before = new Map<string, unknown>([
      ...RESTS_ON.map((field) => [field, shownAs(field, lowered, record, campaign)] as const),
      ...its.map(({ field }) => [field, rawOf(campaign, field)] as const),
    ])
    const values = its.flatMap(({ field, value }) => (value === undefined ? [] : [[field, value]]))
    return {
      spend: overall(its.map(({ spend }) => spend)),
      changes: its.flatMap(({ changes }) => changes),
      body: Object.fromEntries(its.map(({ field, wire }) => [field, wire])),
      before: Object.fromEntries([...before].filter(([, raw]) => raw !== undefined)),
      values: Object.fromEntries(values),
      targeting: its.find(({ targeting }) => targeting)?.targeting ?? null,
      isBlind: its.some(({ isBlind }) => isBlind),
    }
  }
  const reduce = part((spend) => spend === 'down')
  return {
    reduce,
    neutral: part((spend) => spend === 'neutral', reduce?.values),
    raise: part(canRaise, reduce?.values),
    differences: steps.flatMap(({ kind, ...step }) => (kind === 'write' ? [] : { ...step, kind })),
    agreed,
  }
}

/** The value of a field as far as it is known: as shown, in the forms that this service was seen to use. */
export function valueNow(
  record: CampaignRecord,
  campaign: Campaign,
  field: Field,
): Value | undefined {
  const raw = rawOf(campaign, field)
  if (campaign.gone?.includes(field)) return readValue(field, null)
  if (raw === undefined || record.forms[field]?.includes(JSON.stringify(raw)))
    return record.written[field]
  return readValue(field, raw)
}

/** A value as it is sent, whatever form it is shown in; `lowered`: what a reduction writes before. */
export function shownAs(
  field: Field,
  lowered: Values,
  record: CampaignRecord,
  campaign: Campaign,
): unknown {
  const value = lowered[field] === undefined ? valueNow(record, campaign, field) : lowered[field]
  return value === undefined ? undefined : wireOf(field, value)
}

/** null: it differs, and nothing can be said or done. */
function fieldStep(field: Field, want: Value, ...known: Known): Step | 'same' | null {
  const [record, campaign, open] = known
  const last = record.written[field]
  const late = sent(field, want, 'unknown', open)
  // What may be null is said to be so while nothing else is to be written; it makes no raise a reduction.
  const isNotKnown = campaign.gone?.includes(field) && (last !== want || late.length > 0)
  const now = isNotKnown ? last : valueNow(record, campaign, field)
  if (now === want && late.every((value) => value === want)) return 'same'
  // Shown in no form that can be read, it still goes down from what was agreed last.
  const isLess = last !== undefined && direction(field, last, want) === 'down'
  const there = now !== undefined ? [now] : isLess ? [last] : []
  const each = [...there, ...late].map((value) => direction(field, value, want))
  // What may be spent is the greatest of what may be there: below that, it is a reduction.
  const most = each.length === 0 ? direction(field, undefined, want) : overall(each)
  const spend = each.includes('down') ? 'down' : most
  const isOurs =
    now !== undefined && [...late, ...sent(field, want, 'given-up', open)].includes(now)
  const raw = JSON.stringify(rawOf(campaign, field) ?? null)
  const isUnread = now === undefined && raw !== 'null'
  const [file, service] = [showValue(field, want), isUnread ? raw : showValue(field, now)]
  const isMoved = now !== last && last !== undefined && !isOurs
  const edit = fileText(field, now)
  // The file says the same: only our mark is missing there.
  const isAlike = now !== want && edit !== null && edit === fileText(field, want)
  // What may still arrive makes a reduction of it, and none of what somebody lowered meanwhile.
  const isLower = now === want ? spend === 'down' : direction(field, now, want) === 'down'
  const isFile = last === want
  const isLeft = isMoved && (isFile || (now !== undefined && !isLower && !isAlike))
  const left = isLeft ? whyLeft(record, field, raw, isFile) : 'write'
  const kind = isFixed(field) && (left === 'write' || left === 'conflict') ? 'fixed' : left
  if (kind === 'fixed' && now === undefined) return null
  const changes = [{ path: field, before: service, after: file, spend }]
  const told = { field, file, service, raw, edit: isAlike ? null : edit }
  return { ...told, kind, changes, spend, wire: wireOf(field, want), value: want }
}

function targetingStep(want: CanonicalTargeting, ...known: Known): Step | 'agreed' | null {
  const [record, campaign, open] = known
  const { targeting: last, uncertain, forms, said } = record
  const isFile = last !== null && isSame(last, want)
  const isGone = campaign.gone?.includes('targeting') && isFile
  const shownRaw = isGone ? null : rawOf(campaign, 'targeting')
  // Null is blank, or what a service says that does not show targeting: it may be either.
  const isBlank = shownRaw === null
  // What else may be there is taken back all the same.
  const isOpen = isFile && uncertain.some((one) => !isSame(one, want))
  const shown = isBlank && (last === null || isOpen) ? null : readTargeting(shownRaw)
  const isForm = shown !== null && forms.targeting?.includes(JSON.stringify(shown))
  const echo = isForm && last !== null ? last : shown
  const written = last === null ? null : [last, ...uncertain]
  const there = echo === null ? written : [echo, ...(isBlank && written !== null ? written : [])]
  if (there?.every((one) => isSame(one, want))) {
    const isNew = !isFile || uncertain.length > 0 || said.targeting !== undefined
    return echo !== null && isNew ? 'agreed' : null
  }
  const changes = targetingChanges(there, want)
  const spend = overall(changes.map((change) => change.spend))
  const given = open.flatMap(({ body }) => body?.targeting ?? []).map(canonical)
  const ours = [...(last === null ? [] : [last]), ...uncertain, ...given]
  const isMoved = echo !== null && last !== null && !ours.some((one) => isSame(one, echo))
  const raw = JSON.stringify(shown ?? shownRaw ?? null)
  const isLeft = isMoved && (isFile || spend !== 'down')
  const kind = isLeft ? whyLeft(record, 'targeting', raw, isFile) : 'write'
  const [file, service] = [sayAll(changes, 'after'), sayAll(changes, 'before')]
  const step = { wire: onTheWire(want, there), targeting: want, isBlind: there === null }
  const edit = isBlank ? null : service
  const told = { field: 'targeting', file, service, raw, edit } as const
  return { ...told, kind, changes, spend, ...step }
}

/** By what a person said of the difference. `isFile`: the file says still what was agreed. */
function whyLeft(
  { said }: CampaignRecord,
  field: Field | 'targeting',
  raw: string,
  isFile: boolean,
): Step['kind'] {
  const about = said[field]
  // Another value than the one that the person saw is another difference.
  const word = about?.of === raw ? about.word : null
  if (word === 'revert') return 'write'
  return !isFile ? 'conflict' : word === null ? 'drift' : 'kept'
}

/**
 * Values of a field in updates whose outcome is not known. What a person sent past the file counts where it
 * may spend more than the file wants; where it spends less, it is left to that person.
 */
function sent(
  field: Field,
  want: Value,
  outcome: 'unknown' | 'given-up',
  open: readonly CampaignWrite[],
): Value[] {
  return open.flatMap((write) => {
    if (write.outcome !== outcome || write.action !== 'update') return []
    const value = readValue(field, (write.body as Record<string, unknown>)[field])
    const isTheirs = write.isDirect && direction(field, value, want) !== 'down'
    return value === undefined || isTheirs ? [] : [value]
  })
}

const sayAll = (changes: readonly Change[], side: 'before' | 'after') =>
  changes.map((one) => `${one.path.replace('targeting.', '')} ${one[side] ?? 'any'}`).join('; ')
