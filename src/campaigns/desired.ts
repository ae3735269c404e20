// Reads the campaigns file. YAML's failsafe schema keeps ids, postal codes and `NO` as text; our own readers give the
// types. All mistakes are reported at once, with their positions, and one mistake makes the whole file unusable.

import { type Amount, showAmount } from '../lib/amount.ts'
import * as fields from '../lib/text-fields.ts'
import { keyName, parseYaml, type YamlPath, type YamlProblem } from '../lib/yaml.ts'
import { type Take, YamlReading } from '../lib/yaml-reading.ts'
import type { City, Targeting } from '../service/port.ts'
import { FIELDS, readText, type Values } from './fields.ts'
import { type CanonicalTargeting, canonical } from './targeting.ts'

/** Entry is a campaign as the file describes it. */
export interface Entry {
  /** The external campaign id. It is always part of the targeting. */
  key: string
  /** The fields that the file names. An absent field is not managed. */
  values: Values
  /** null: the targeting is not managed. */
  targeting: CanonicalTargeting | null
  /** The service's id of the campaign, where the file names it; null: we find the campaign on the service. */
  campaignId: string | null
}

export interface Limits {
  maxBudget?: Amount
  /** The largest sum of the budgets of the entries that are not paused. */
  maxTotal?: Amount
}

export type DesiredReading =
  | { kind: 'desired'; entries: Entry[] }
  | { kind: 'problems'; problems: YamlProblem[] }

export function readDesired(text: string): DesiredReading {
  const nul = text.indexOf('\0')
  if (nul !== -1) {
    const line = text.slice(0, nul).split('\n').length
    const problem = 'a NUL byte: the file is incomplete, or is not text'
    return { kind: 'problems', problems: [{ line, column: 1, key: '', problem }] }
  }
  const document = parseYaml(text.replace(/^\uFEFF/, ''), 'failsafe')
  if (document.problems.length > 0) return { kind: 'problems', problems: document.problems }
  const reading = new Reading(document, 'this file names no campaign')
  const entries = reading.readEntries()
  const problems = reading.problems.sort((a, b) => a.line - b.line || a.column - b.column)
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'desired', entries }
}

/** readTargetingText reads a targeting in YAML or JSON. It returns a string, the first problem, for a bad one. */
export function readTargetingText(text: string): Targeting | string {
  const reading = new Reading(parseYaml(text, 'failsafe'), 'expected an object')
  const targeting = reading.targeting(reading.document.value, [])
  const [first] = reading.problems
  return first === undefined
    ? targeting
    : `${first.key === '' ? '' : `${first.key}: `}${first.problem}`
}

/** idOf reads a campaign id. The id becomes one segment of a path, so `.` and `..` are refused. */
const idOf: fields.Reader<string> = (text) => {
  const value = text.trim()
  const isId = value !== '' && value !== '.' && value !== '..' && value !== '0'
  return isId ? { value } : { problem: "expected the service's id of a campaign" }
}

class Reading extends YamlReading {
  readonly #entries: { entry: Entry; path: YamlPath }[] = []

  /** report names an entry by its external campaign id, not by its number in the file. */
  override report(path: YamlPath, what: 'key' | 'value', problem: string): void {
    const found = this.document.problemAt(path, what, problem)
    this.problems.push({ ...found, key: this.#nameOf(path) })
  }

  #nameOf(path: YamlPath): string {
    const [list, n] = path
    const all = Object(this.document.value).campaigns
    const key =
      list === 'campaigns' && typeof n === 'number' ? Object(all?.[n]).externalCampaignId : null
    if (typeof key !== 'string' || key.trim() === '') return keyName(path)
    const rest = keyName(path.slice(2))
    return rest === '' ? key : `${key}.${rest}`
  }

  readEntries(): Entry[] {
    const shape = {
      version: this.text(fields.oneOf('1')),
      campaigns: this.list((value, path) => this.#entry(value, path)),
      limits: (value: unknown, path: YamlPath) => this.#limits(value, path),
    }
    const top = this.block(this.document.value, [], shape, ['version'])
    if (this.#entries.length + this.problems.length === 0)
      this.report([], 'key', 'this file names no campaign')
    this.#checkDuplicates()
    this.#checkLimits((top.limits ?? {}) as Limits)
    return this.#entries.map(({ entry }) => entry)
  }

  #entry(value: unknown, path: YamlPath): void {
    const { text } = this
    const shape = {
      externalCampaignId: text(fields.nonEmpty),
      ...Object.fromEntries(FIELDS.map((field) => [field, text((one) => readText(field, one))])),
      campaignId: text(idOf),
      allowWiden: text(fields.flag),
      targeting: (at: unknown, below: YamlPath) =>
        at === 'all' ? {} : this.targeting(at, below, 'expected a block of keys, or all'),
    }
    const taken = this.block(value, path, shape, ['externalCampaignId'])
    const { externalCampaignId: key, allowWiden, campaignId, targeting, ...rest } = taken
    const values = rest as Values
    const { startDate, endDate } = values
    if (startDate != null && endDate != null && endDate < startDate)
      this.report([...path, 'endDate'], 'value', 'is before startDate')
    const wanted = targeting as Targeting | undefined
    if (wanted?.requisitionIds?.length && allowWiden !== true)
      this.report(
        [...path, 'targeting', 'requisitionIds'],
        'key',
        'these ids add postings that the other lists leave out: write allowWiden: true into the entry to allow it',
      )
    if (wanted?.externalCampaignId !== undefined && wanted.externalCampaignId !== key)
      this.report(
        [...path, 'targeting', 'externalCampaignId'],
        'value',
        "is always the entry's own id: leave it out here",
      )
    if (typeof key !== 'string') return
    const entry = {
      key,
      values,
      campaignId: (campaignId as string | undefined) ?? null,
      targeting: wanted === undefined ? null : canonical({ ...wanted, externalCampaignId: key }),
    }
    this.#entries.push({ entry, path })
  }

  targeting(value: unknown, path: YamlPath, expected?: string): Targeting {
    if (typeof value === 'string' && expected !== undefined) {
      this.report(path, 'value', `${expected} (got ${JSON.stringify(value)})`)
      return {}
    }
    const texts = this.#nonEmptyList(this.text(fields.nonEmpty))
    const cities = this.#nonEmptyList((at, below): City | undefined => {
      const shape = {
        name: this.text(fields.nonEmpty),
        stateProvCode: this.text(fields.stateCode),
      }
      const { name, stateProvCode } = this.block(at, below, shape, Object.keys(shape))
      return typeof name === 'string' && typeof stateProvCode === 'string'
        ? { name, stateProvCode }
        : undefined
    })
    const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
    if (expected !== undefined && isEmpty)
      this.report(path, 'value', 'the targeting is empty: write all, or name what it selects')
    return this.block(value, path, {
      cities,
      externalCampaignId: this.text(fields.nonEmpty),
      requisitionIds: texts,
      jobDescKeywords: texts,
      jobTitles: texts,
      postalCodes: texts,
      stateProvCodes: this.#nonEmptyList(this.text(fields.stateCode)),
    })
  }

  /** #nonEmptyList refuses an empty list: it would select every posting, but looks as if it selected none. */
  #nonEmptyList<T>(take: Take<T>): Take<T[]> {
    const read = this.list(take)
    return (value, path) => {
      if (Array.isArray(value) && value.length === 0)
        this.report(path, 'value', 'the list is empty: leave it out, or name what it selects')
      return read(value, path)
    }
  }

  #limits(value: unknown, path: YamlPath): Limits {
    const amount = this.text(fields.amount(2))
    return this.block(value, path, { maxBudget: amount, maxTotal: amount }) as Limits
  }

  #checkDuplicates(): void {
    const first = new Map<string, string>()
    const see = (what: string, text: string, path: YamlPath) => {
      const known = first.get(`${what}\n${text}`)
      if (known === undefined) first.set(`${what}\n${text}`, this.#nameOf(path))
      else this.report(path, 'value', `duplicate ${what}, already used by ${known}`)
    }
    for (const { entry, path } of this.#entries) {
      const { key, values, campaignId } = entry
      see('externalCampaignId', key, [...path, 'externalCampaignId'])
      if (campaignId !== null) see('campaignId', campaignId, [...path, 'campaignId'])
      else if (typeof values.name === 'string')
        see('name', values.name.toLowerCase(), [...path, 'name'])
    }
  }

  /** #checkLimits reports budgets above a limit, which are typing errors. */
  #checkLimits({ maxBudget, maxTotal }: Limits): void {
    let total = 0
    for (const { entry, path } of this.#entries) {
      const budget = Number(entry.values.budget ?? 0)
      if (entry.values.status !== 'paused') total += budget
      if (maxBudget === undefined || budget <= maxBudget) continue
      const problem = `is above limits.maxBudget, ${showAmount(maxBudget)}`
      this.report([...path, 'budget'], 'value', problem)
    }
    if (maxTotal === undefined || total <= maxTotal) return
    const problem = `the budgets add up to ${showAmount(total)}, which is above this limit`
    this.report(['limits', 'maxTotal'], 'value', problem)
  }
}
