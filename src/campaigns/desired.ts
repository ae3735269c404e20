// What the campaigns file wants, and how it is read: failsafe YAML, so that ids, postal codes and `NO` stay text, and our own types.
// Every mistake is reported at once, with its position; one mistake makes the whole file unusable.

import type { Amount } from '../lib/amount.ts'
import * as fields from '../lib/text-fields.ts'
import { keyName, parseYaml, type YamlPath, type YamlProblem } from '../lib/yaml.ts'
import { YamlReading } from '../lib/yaml-reading.ts'
import type { City, Targeting } from '../service/port.ts'
import { FIELDS, readText, type Values } from './fields.ts'
import { type CanonicalTargeting, canonical } from './targeting.ts'

export interface Desired {
  campaigns: DesiredCampaign[]
  removed: Removal[]
  guards: Guards
}

export interface DesiredCampaign {
  /** The external campaign id: the key, and always part of the targeting. */
  key: string
  /** Without the token. */
  name: string
  /** The other fields; one that is absent is not managed. */
  values: Values
  targeting?: CanonicalTargeting
  /** Lists of the targeting that the file writes down without a value. */
  emptyLists: readonly string[]
  /** The service's id of an existing campaign; null: feedsyncd makes one. */
  campaignId: string | null
  /** The campaign may be made without a filter beside its id. */
  allPostings: boolean
}

/** An entry without targeting selects by its id. */
export const wantedTargeting = ({ key, targeting }: DesiredCampaign): CanonicalTargeting =>
  targeting ?? canonical({ externalCampaignId: key })

export interface Removal {
  key: string
  endDate: string
}

/** What holds back a change that can raise spending. */
export interface Guards {
  maxBudget: Amount
  maxExposure: Amount
  raisePercent: number
  createsPerDay: number
  /** 0 to 1. */
  maxShareOfFeed: number
  /** Smaller feeds are left out: a few postings may well belong to one campaign. */
  fromPostings: number
}

/** The guards of a file that names none. */
export const DEFAULT_GUARDS: Guards = {
  maxBudget: 50_000_000,
  maxExposure: 200_000_000,
  raisePercent: 50,
  createsPerDay: 10,
  maxShareOfFeed: 0.5,
  fromPostings: 100,
}

/** Where there is no file that can be read. */
export const NOTHING_DESIRED: Desired = { campaigns: [], removed: [], guards: DEFAULT_GUARDS }

export type DesiredReading =
  | { kind: 'desired'; desired: Desired }
  | { kind: 'problems'; problems: YamlProblem[] }

export function readDesired(text: string): DesiredReading {
  const nul = text.indexOf('\0')
  if (nul !== -1) {
    const line = text.slice(0, nul).split('\n').length
    const problem = 'a NUL byte: the file is not whole, or no text'
    return { kind: 'problems', problems: [{ line, column: 1, key: '', problem }] }
  }
  const document = parseYaml(text.replace(/^\uFEFF/, ''), 'failsafe')
  if (document.problems.length > 0) return { kind: 'problems', problems: document.problems }
  const reading = new Reading(document, 'no campaign is in this file')
  const desired = reading.whole()
  const problems = reading.problems.sort((a, b) => a.line - b.line || a.column - b.column)
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'desired', desired }
}

/** A targeting alone, as YAML or JSON; answers what is wrong with it otherwise. */
export function readTargetingText(text: string): Targeting | string {
  const reading = new Reading(parseYaml(text, 'failsafe'), 'expected an object')
  const targeting = reading.targeting(reading.document.value, [])
  const [first] = reading.problems
  return first === undefined
    ? targeting
    : `${first.key === '' ? '' : `${first.key}: `}${first.problem}`
}

/** What cannot be one segment of a path is no id. */
const idOf: fields.Reader<string> = (text) => {
  const value = text.trim()
  const isId = value !== '' && value !== '.' && value !== '..' && value !== '0'
  return isId ? { value } : { problem: "expected the service's id of a campaign" }
}

class Reading extends YamlReading {
  whole(): Desired {
    const shape = {
      version: this.text(fields.oneOf('1')),
      campaigns: this.list((value, path) => this.#campaign(value, path)),
      removed: this.list((value, path) => this.#removal(value, path)),
      guards: (value: unknown, path: YamlPath) => this.#guards(value, path),
    }
    const top = this.block(this.document.value, [], shape, ['version'])
    const campaigns = (top.campaigns ?? []) as DesiredCampaign[]
    const removed = (top.removed ?? []) as Removal[]
    if (campaigns.length + removed.length === 0 && this.problems.length === 0)
      this.report([], 'key', 'no campaign is in this file')
    this.#distinct(campaigns, removed)
    return { campaigns, removed, guards: (top.guards as Guards | undefined) ?? DEFAULT_GUARDS }
  }

  #campaign(value: unknown, path: YamlPath): DesiredCampaign | undefined {
    const { text } = this
    const shape = {
      externalCampaignId: text(fields.nonEmpty),
      ...Object.fromEntries(FIELDS.map((field) => [field, text((one) => readText(field, one))])),
      campaignId: text(idOf),
      allPostings: text(fields.flag),
      allowWiden: text(fields.flag),
      targeting: (at: unknown, below: YamlPath) => this.targeting(at, below),
    }
    const entry = this.block(value, path, shape, ['externalCampaignId', 'name'])
    const { externalCampaignId: key, name, allowWiden, allPostings, targeting, ...rest } = entry
    const { campaignId = null, ...values } = rest as { campaignId?: string } & Values
    const { startDate, endDate } = values as { startDate?: string; endDate?: string | null }
    if (startDate !== undefined && endDate != null && endDate < startDate)
      this.report([...path, 'endDate'], 'value', 'is before startDate')
    const wanted = targeting as Targeting | undefined
    if (wanted?.requisitionIds?.length && allowWiden !== true)
      this.report(
        [...path, 'targeting', 'requisitionIds'],
        'key',
        'these add postings whatever the other lists say: allow it with allowWiden: true on the entry',
      )
    if (wanted?.externalCampaignId !== undefined && wanted.externalCampaignId !== key)
      this.report(
        [...path, 'targeting', 'externalCampaignId'],
        'value',
        "is always the entry's own: leave it out here",
      )
    if (typeof key !== 'string' || typeof name !== 'string') return undefined
    const lists = Object.entries(wanted ?? {})
    return {
      ...{ key, name, values, campaignId, allPostings: allPostings === true },
      emptyLists: lists.flatMap(([list, all]) => (Array.isArray(all) && !all.length ? [list] : [])),
      ...(wanted && { targeting: canonical({ ...wanted, externalCampaignId: key }) }),
    }
  }

  targeting(value: unknown, path: YamlPath): Targeting {
    const texts = this.list(this.text(fields.nonEmpty))
    const cities = this.list((at, below): City | undefined => {
      const shape = {
        name: this.text(fields.nonEmpty),
        stateProvCode: this.text(fields.stateCode),
      }
      const { name, stateProvCode } = this.block(at, below, shape, Object.keys(shape))
      return typeof name === 'string' && typeof stateProvCode === 'string'
        ? { name, stateProvCode }
        : undefined
    })
    return this.block(value, path, {
      cities,
      externalCampaignId: this.text(fields.nonEmpty),
      requisitionIds: texts,
      jobDescKeywords: texts,
      jobTitles: texts,
      postalCodes: texts,
      stateProvCodes: this.list(this.text(fields.stateCode)),
    })
  }

  #removal(value: unknown, path: YamlPath): Removal | undefined {
    const shape = {
      externalCampaignId: this.text(fields.nonEmpty),
      endDate: this.text(fields.date),
    }
    const taken = this.block(value, path, shape, Object.keys(shape))
    const { externalCampaignId: key, endDate } = taken
    return typeof key === 'string' && typeof endDate === 'string' ? { key, endDate } : undefined
  }

  #guards(value: unknown, path: YamlPath): Guards {
    const given = this.block(value, path, {
      maxBudget: this.text(fields.amount(2)),
      maxExposure: this.text(fields.amount(2)),
      raisePercent: this.text(fields.percent),
      createsPerDay: this.text(fields.percent),
      maxShareOfFeed: this.text(fields.share),
    })
    // Who writes the share down means it for every feed.
    const every = given.maxShareOfFeed === undefined ? {} : { fromPostings: 0 }
    return { ...DEFAULT_GUARDS, ...every, ...given }
  }

  #distinct(campaigns: readonly DesiredCampaign[], removed: readonly Removal[]): void {
    const first = new Map<string, string>()
    const see = (what: string, text: string, path: YamlPath) => {
      const known = first.get(`${what}\n${text}`)
      if (known === undefined) first.set(`${what}\n${text}`, keyName(path))
      else this.report(path, 'value', `duplicate ${what}, already used by ${known}`)
    }
    for (const [n, { key, name, campaignId }] of campaigns.entries()) {
      see('externalCampaignId', key, ['campaigns', n, 'externalCampaignId'])
      if (campaignId === null) see('name', name.toLowerCase(), ['campaigns', n, 'name'])
      if (campaignId !== null) see('campaignId', campaignId, ['campaigns', n, 'campaignId'])
    }
    for (const [n, { key }] of removed.entries())
      see('externalCampaignId', key, ['removed', n, 'externalCampaignId'])
  }
}
