// Reads campaigns.yaml: failsafe YAML, so that ids, postal codes and `NO` stay text, and our own types.
// Every mistake is reported at once, with its position; one mistake makes the whole file unusable.

import * as fields from '../lib/text-fields.ts'
import { keyName, parseYaml, type YamlPath, type YamlProblem } from '../lib/yaml.ts'
import { type FieldProblem, YamlReading } from '../lib/yaml-reading.ts'
import type { City, Targeting } from '../service/port.ts'
import {
  DEFAULT_GUARDS,
  type Desired,
  type DesiredCampaign,
  type Guards,
  type Removal,
} from './desired.ts'
import type { Values } from './fields.ts'
import { canonical } from './targeting.ts'

export type DesiredReading =
  | { kind: 'desired'; desired: Desired }
  | { kind: 'problems'; problems: FieldProblem[] }

export function readDesired(text: string): DesiredReading {
  const nul = text.indexOf('\0')
  if (nul !== -1) {
    const line = text.slice(0, nul).split('\n').length
    return failed([{ line, column: 1, message: 'a NUL byte: the file is not whole, or no text' }])
  }
  const document = parseYaml(text.replace(/^\uFEFF/, ''), { schema: 'failsafe' })
  if (document.problems.length > 0) return failed(document.problems)
  const reading = new Reading(document, 'no campaign is in this file')
  const desired = reading.whole()
  const problems = reading.problems.sort((a, b) => a.line - b.line || a.column - b.column)
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'desired', desired }
}

/** A targeting alone, as YAML or JSON; answers what is wrong with it otherwise. */
export function readTargetingText(text: string): Targeting | string {
  const reading = new Reading(parseYaml(text, { schema: 'failsafe' }), 'expected an object')
  const targeting = reading.targeting(reading.document.value, [])
  const [first] = reading.problems
  return first === undefined
    ? targeting
    : `${first.key === '' ? '' : `${first.key}: `}${first.problem}`
}

function failed(problems: readonly YamlProblem[]): DesiredReading {
  const all = problems.map(({ message, ...at }) => ({ ...at, key: '', problem: message }))
  return { kind: 'problems', problems: all }
}

const nameOf: fields.Reader<string> = (text) => {
  const value = text.normalize('NFC').trim().replace(/\s+/g, ' ')
  if (value === '') return { problem: 'must not be empty' }
  // The token is recognised by this pattern; a name that has one already would be taken for ours.
  return /\[#/.test(value) ? { problem: 'must not hold "[#": it marks our token' } : { value }
}

/** `none` stands for null: nothing there, as opposed to not managed. */
const orNone =
  <T>(read: fields.Reader<T>): fields.Reader<T | null> =>
  (text) =>
    text === 'none' ? { value: null } : read(text)

/** What cannot be one segment of a path is no id. */
const idOf: fields.Reader<string> = (text) => {
  const value = text.trim()
  const isId = value !== '' && value !== '.' && value !== '..' && value !== '0'
  return isId ? { value } : { problem: "expected the service's id of a campaign" }
}

class Reading extends YamlReading {
  whole(): Desired {
    const top = this.block(this.document.value, [], {
      version: this.text(fields.oneOf('1')),
      campaigns: this.list((value, path) => this.#campaign(value, path)),
      removed: this.list((value, path) => this.#removal(value, path)),
      guards: (value, path) => this.#guards(value, path),
    })
    this.require(this.document.value, [], 'version')
    const campaigns = (top.campaigns ?? []) as DesiredCampaign[]
    const removed = (top.removed ?? []) as Removal[]
    if (campaigns.length + removed.length === 0 && this.problems.length === 0)
      this.report([], 'key', 'no campaign is in this file')
    this.#distinct(campaigns, removed)
    return { campaigns, removed, guards: (top.guards as Guards | undefined) ?? DEFAULT_GUARDS }
  }

  #campaign(value: unknown, path: YamlPath): DesiredCampaign | undefined {
    const { text } = this
    const entry = this.block(value, path, {
      externalCampaignId: text(fields.nonEmpty),
      name: text(nameOf),
      budget: text(fields.amount(2)),
      period: text(fields.oneOf('once', 'monthly')),
      startDate: text(fields.date),
      endDate: text(orNone(fields.date)),
      autoBidLevel: text(orNone(fields.oneOf('accelerated', 'standard'))),
      cpc: text(orNone(fields.amount(4))),
      maxCpc: text(orNone(fields.amount(4))),
      paidCpaGoal: text(orNone(fields.amount(4))),
      status: text(fields.oneOf('running', 'paused')),
      campaignId: text(idOf),
      allPostings: text(fields.flag),
      allowWiden: text(fields.flag),
      targeting: (at, below) => this.targeting(at, below),
    })
    const { externalCampaignId: key, name, allowWiden, allPostings, targeting, ...rest } = entry
    const { campaignId = null, ...values } = rest as { campaignId?: string } & Values
    for (const wanted of ['externalCampaignId', 'name']) this.require(value, path, wanted)
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
      const city = this.block(at, below, {
        name: this.text(fields.nonEmpty),
        stateProvCode: this.text(fields.stateCode),
      })
      for (const wanted of ['name', 'stateProvCode']) this.require(at, below, wanted)
      const { name, stateProvCode } = city
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
    const { externalCampaignId: key, endDate } = this.block(value, path, {
      externalCampaignId: this.text(fields.nonEmpty),
      endDate: this.text(fields.date),
    })
    for (const wanted of ['externalCampaignId', 'endDate']) this.require(value, path, wanted)
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
