// Compares three values of each field: what the file wants, what file and service last agreed on, and
// what the service shows now. Pure. Unknown is not null: what is not shown is as it was written last, and
// what was sent without an answer may be there as well.

import type { Campaign, CampaignUpdate, City, Targeting } from '../service/port.ts'
import { type Change, targetingChanges } from './changes.ts'
import {
  canRaise,
  direction,
  FIELDS,
  type Field,
  isField,
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
import { type CanonicalTargeting, CRITERIA, canonical, isSame, onTheWire } from './targeting.ts'

/** What an entry wants of its campaign; `name` with its token. */
export interface Goal {
  values: Values
  targeting?: CanonicalTargeting
}

/** One write: fields that go together. */
export interface Part {
  spend: Spend
  changes: Change[]
  body: CampaignUpdate
  /** What is there before, as the service shows it. */
  before: Record<string, unknown>
  values: Values
  targeting: CanonicalTargeting | null
  /** The targeting that it replaces is not known. */
  isBlind: boolean
}

export interface Difference {
  field: Field | 'targeting'
  file: string
  service: string
  /** The service's value as JSON text. */
  raw: string
  /** The file changed too. */
  isConflict: boolean
  /** A person said that it may stay so. */
  isKept: boolean
}

export interface Comparison {
  reduce: Part | null
  /** Changes that cannot spend more, such as the name. */
  neutral: Part | null
  raise: Part | null
  differences: Difference[]
  /** Fields that the service does not allow changing after creation. */
  fixed: { field: Field; from: string; to: string }[]
  /** What is there as the file wants it and was never written down as agreed. */
  agreed: { values: Values; targeting: CanonicalTargeting | null }
}

/** Of what was read before a write, beside the fields of its body: what its spend effect rests on. */
const RESTS_ON = ['budget', 'endDate', 'status'] as const

export function compare(
  goal: Goal,
  record: CampaignRecord,
  campaign: Campaign,
  open: readonly CampaignWrite[],
): Comparison {
  const comparing = new Comparing(record, campaign, open)
  for (const field of FIELDS) {
    const want = goal.values[field]
    if (want !== undefined) comparing.field(field, want)
  }
  const targeting = goal.targeting ?? (record.uncertain.length > 0 ? record.targeting : null)
  if (targeting != null) comparing.targeting(targeting)
  return comparing.done()
}

/** The value of a field as far as it is known: as shown, in the forms that this service was seen to use. */
export function valueNow(
  record: CampaignRecord,
  campaign: Campaign,
  field: Field,
): Value | undefined {
  const raw = rawOf(campaign, field)
  const known = record.written[field]
  if (raw === undefined || record.forms[field]?.includes(JSON.stringify(raw))) return known
  return readValue(field, raw)
}

interface Step {
  field: Field | 'targeting'
  changes: Change[]
  spend: Spend
  wire: unknown
  value?: Value
  targeting?: CanonicalTargeting
  isBlind?: boolean
}

class Comparing {
  readonly #record: CampaignRecord
  readonly #campaign: Campaign
  readonly #open: readonly CampaignWrite[]
  readonly #steps: Step[] = []
  readonly #found: Pick<Comparison, 'differences' | 'fixed' | 'agreed'> = {
    ...{ differences: [], fixed: [], agreed: { values: {}, targeting: null } },
  }

  constructor(record: CampaignRecord, campaign: Campaign, open: readonly CampaignWrite[]) {
    this.#record = record
    this.#campaign = campaign
    this.#open = open
  }

  field(field: Field, want: Value): void {
    const { written, said } = this.#record
    const last = written[field]
    const now = valueNow(this.#record, this.#campaign, field)
    const late = this.#sent(field, 'unknown')
    if (now === want && late.every((value) => value === want)) {
      if (last !== want) this.#found.agreed.values[field] = want
      return
    }
    const each = [...(now === undefined ? [] : [now]), ...late].map((v) =>
      direction(field, v, want),
    )
    // What may be spent is the greatest of what may be there: below that, it is a reduction.
    const spend = each.includes('down') ? 'down' : each.length === 0 ? 'unknown' : overall(each)
    const isOurs = now !== undefined && [...late, ...this.#sent(field, 'given-up')].includes(now)
    const raw = JSON.stringify(rawOf(this.#campaign, field) ?? null)
    const [file, service] = [showValue(field, want), showValue(field, now)]
    const change = { path: field, before: service, after: file, spend }
    const update = () =>
      this.#steps.push({ field, changes: [change], spend, wire: wireOf(field, want), value: want })
    if (now !== want && last === want && !isOurs && said[field] !== 'revert') {
      const kept = said[field]
      const isKept = typeof kept === 'object' && kept.keep === raw
      this.#found.differences.push({ field, file, service, raw, isConflict: false, isKept })
    } else if (isFixed(field)) {
      if (now !== undefined) this.#found.fixed.push({ field, from: service, to: file })
    } else if (
      spend !== 'down' &&
      last !== undefined &&
      now !== undefined &&
      last !== want &&
      now !== last &&
      !isOurs &&
      said[field] !== 'revert'
    ) {
      this.#found.differences.push({ field, file, service, raw, isConflict: true, isKept: false })
    } else update()
  }

  targeting(want: CanonicalTargeting): void {
    const { targeting: last, uncertain, forms, said } = this.#record
    const raw = rawOf(this.#campaign, 'targeting')
    const shown = raw === undefined ? null : readTargeting(raw)
    const echo =
      shown !== null && last !== null && forms.targeting?.includes(JSON.stringify(shown))
        ? last
        : shown
    const there = echo !== null ? [echo] : last === null ? null : [last, ...uncertain]
    if (there?.every((one) => isSame(one, want))) {
      if (echo !== null && (last === null || !isSame(last, want) || uncertain.length > 0))
        this.#found.agreed.targeting = want
      return
    }
    const changes = targetingChanges(there, want)
    const spend = overall(changes.map((change) => change.spend))
    const update = () =>
      this.#steps.push({
        ...{ field: 'targeting', changes, spend, wire: onTheWire(want, there) },
        ...{ targeting: want, isBlind: there === null },
      })
    const given = this.#open.flatMap(({ body }) => body?.targeting ?? []).map(canonical)
    const isOurs = echo !== null && [...uncertain, ...given].some((one) => isSame(one, echo))
    const isMoved = echo !== null && last !== null && !isSame(echo, last) && !isOurs
    const isFile = last !== null && isSame(last, want)
    const kept = said.targeting
    if (isMoved && kept !== 'revert' && (isFile || spend !== 'down')) {
      const text = JSON.stringify(raw)
      const isKept = typeof kept === 'object' && kept.keep === text
      const [file, service] = [sayAll(changes, 'after'), sayAll(changes, 'before')]
      this.#found.differences.push({
        field: 'targeting',
        file,
        service,
        raw: text,
        isConflict: !isFile,
        isKept,
      })
    } else update()
  }

  done(): Comparison {
    const part = (wanted: (spend: Spend) => boolean): Part | null => {
      const steps = this.#steps.filter(({ spend }) => wanted(spend))
      if (steps.length === 0) return null
      const fields = new Set([...steps.map(({ field }) => field), ...RESTS_ON])
      const before = [...fields].flatMap((field) => {
        const raw = rawOf(this.#campaign, field)
        return raw === undefined ? [] : [[field, raw] as const]
      })
      return {
        spend: overall(steps.map(({ spend }) => spend)),
        changes: steps.flatMap(({ changes }) => changes),
        body: Object.fromEntries(steps.map(({ field, wire }) => [field, wire])),
        before: Object.fromEntries(before),
        values: Object.fromEntries(
          steps.flatMap(({ field, value }) => (value === undefined ? [] : [[field, value]])),
        ),
        targeting: steps.find((one) => one.targeting !== undefined)?.targeting ?? null,
        isBlind: steps.some((one) => one.isBlind),
      }
    }
    return {
      reduce: part((spend) => spend === 'down'),
      neutral: part((spend) => spend === 'neutral'),
      raise: part(canRaise),
      ...this.#found,
    }
  }

  #sent(field: Field, outcome: 'unknown' | 'given-up'): Value[] {
    return this.#open.flatMap((write) => {
      if (write.outcome !== outcome || write.action !== 'update') return []
      const sent: Record<string, unknown> = { ...write.body }
      const value = readValue(field, sent[field])
      return value === undefined ? [] : [value]
    })
  }
}

const sayAll = (changes: readonly Change[], side: 'before' | 'after') =>
  changes.map((one) => `${one.path.replace('targeting.', '')} ${one[side] ?? 'any'}`).join('; ')

/** Tolerant: what is no list of texts is left out; null: nothing that can be read as a targeting. */
export function readTargeting(raw: unknown): CanonicalTargeting | null {
  if (raw === null) return canonical({})
  if (typeof raw !== 'object' || Array.isArray(raw)) return null
  const found: Record<string, unknown> = {}
  for (const name of CRITERIA) {
    const value = Object.hasOwn(raw, name) ? (raw as Record<string, unknown>)[name] : undefined
    if (value === undefined || value === null) continue
    if (name === 'externalCampaignId') found[name] = String(value)
    else if (!Array.isArray(value)) return null
    else if (name === 'cities') found[name] = value.filter(isCity)
    else found[name] = value.map(String)
  }
  return canonical(found as Targeting)
}

const isCity = (value: unknown): value is City =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  'stateProvCode' in value &&
  typeof value.name === 'string' &&
  typeof value.stateProvCode === 'string'

/** Fields of a body as values. */
export function valuesOf(body: object): Values {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, raw]) => {
      const value = isField(name) ? readValue(name, raw) : undefined
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
