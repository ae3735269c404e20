// Reads campaigns.yaml: failsafe YAML, so that ids, postal codes and `NO` stay text, and our own types.
// Every mistake is reported at once, with its position; one mistake makes the whole file unusable.

import { nearest } from '../lib/nearest.ts'
import { keyName, parseYaml, type YamlDocument, type YamlPath } from '../lib/yaml.ts'
import {
  DEFAULT_GUARDS,
  type Desired,
  type DesiredCampaign,
  type DesiredProblem,
  type Guards,
  type Removal,
} from './desired.ts'
import * as fields from './desired-fields.ts'
import type { City, Targeting } from './port.ts'
import { canonical } from './targeting.ts'

export type DesiredReading =
  | { kind: 'desired'; desired: Desired }
  | { kind: 'problems'; problems: DesiredProblem[] }

export function readDesired(text: string): DesiredReading {
  const document = parseYaml(text.replace(/^\uFEFF/, ''), { schema: 'failsafe' })
  if (document.problems.length > 0) {
    const problems = document.problems.map(({ line, column, message }) => ({
      ...{ line, column, key: '', problem: message },
    }))
    return { kind: 'problems', problems }
  }
  const reading = new Reading(document)
  const desired = reading.whole()
  const problems = reading.problems.sort((a, b) => a.line - b.line || a.column - b.column)
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'desired', desired }
}

type Values = Record<string, unknown>
/** Reads the value at a path and reports what is wrong with it; undefined then. */
type Take<T> = (value: unknown, path: YamlPath) => T | undefined
type Shape = Record<string, Take<unknown>>

class Reading {
  readonly problems: DesiredProblem[] = []
  readonly #document: YamlDocument
  readonly #text =
    <T>(read: fields.Reader<T>): Take<T> =>
    (value, path) => {
      const result =
        typeof value === 'string' ? read(value) : { problem: 'expected one value, not a block' }
      if ('value' in result) return result.value
      const shown = typeof value === 'string' && value.length < 60 ? JSON.stringify(value) : null
      this.#report(path, 'value', `${result.problem}${shown === null ? '' : ` (got ${shown})`}`)
      return undefined
    }

  constructor(document: YamlDocument) {
    this.#document = document
  }

  whole(): Desired {
    const top = this.#block(this.#document.value, [], {
      version: this.#text(fields.oneOf('1')),
      campaigns: this.#list((value, path) => this.#campaign(value, path)),
      removed: this.#list((value, path) => this.#removal(value, path)),
      guards: (value, path) => this.#guards(value, path),
    })
    this.#require(this.#document.value, [], 'version')
    const campaigns = (top.campaigns ?? []) as DesiredCampaign[]
    const removed = (top.removed ?? []) as Removal[]
    if (campaigns.length + removed.length === 0 && this.problems.length === 0)
      this.#report([], 'key', 'no campaign is in this file')
    this.#distinct(campaigns, removed)
    return { campaigns, removed, guards: (top.guards as Guards | undefined) ?? DEFAULT_GUARDS }
  }

  #campaign(value: unknown, path: YamlPath): DesiredCampaign | undefined {
    const text = this.#text
    const entry = this.#block(value, path, {
      externalCampaignId: text(fields.nonEmpty),
      name: text(fields.name),
      budget: text(fields.amount(2)),
      period: text(fields.oneOf('once', 'monthly')),
      startDate: text(fields.date),
      endDate: text(fields.date),
      autoBidLevel: text(fields.oneOf('accelerated', 'standard')),
      cpc: text(fields.amount(4)),
      maxCpc: text(fields.amount(4)),
      paidCpaGoal: text(fields.amount(4)),
      campaignId: text(fields.nonEmpty),
      adopt: text(fields.oneOf('observe', 'takeover')),
      allowWiden: text(fields.flag),
      targeting: (at, below) => this.#targeting(at, below),
      lifecycle: (at, below) => this.#block(at, below, { preventEnd: text(fields.flag) }),
    })
    const { externalCampaignId: key, name, allowWiden, lifecycle, targeting, ...rest } = entry
    for (const wanted of ['externalCampaignId', 'name']) this.#require(value, path, wanted)
    if (entry.adopt !== undefined && entry.campaignId === undefined)
      this.#report([...path, 'adopt'], 'key', 'says how to adopt, but campaignId is missing')
    const { startDate, endDate } = entry as { startDate?: string; endDate?: string }
    if (startDate !== undefined && endDate !== undefined && endDate < startDate)
      this.#report([...path, 'endDate'], 'value', 'is before startDate')
    const wanted = targeting as Targeting | undefined
    if (wanted?.requisitionIds?.length && allowWiden !== true)
      this.#report(
        [...path, 'targeting', 'requisitionIds'],
        'key',
        'these add postings whatever the other lists say: allow it with allowWiden: true on the entry',
      )
    if (wanted?.externalCampaignId !== undefined && wanted.externalCampaignId !== key)
      this.#report(
        [...path, 'targeting', 'externalCampaignId'],
        'value',
        "is always the entry's own: leave it out here",
      )
    if (typeof key !== 'string' || typeof name !== 'string') return undefined
    return {
      campaignId: null,
      adopt: 'observe',
      ...rest,
      ...{ key, name },
      preventEnd: (lifecycle as { preventEnd?: boolean } | undefined)?.preventEnd ?? false,
      ...(wanted && { targeting: canonical({ ...wanted, externalCampaignId: key }) }),
    }
  }

  #targeting(value: unknown, path: YamlPath): Targeting {
    const texts = this.#list(this.#text(fields.nonEmpty))
    const cities = this.#list((at, below): City | undefined => {
      const city = this.#block(at, below, {
        name: this.#text(fields.nonEmpty),
        stateProvCode: this.#text(fields.stateCode),
      })
      for (const wanted of ['name', 'stateProvCode']) this.#require(at, below, wanted)
      const { name, stateProvCode } = city
      return typeof name === 'string' && typeof stateProvCode === 'string'
        ? { name, stateProvCode }
        : undefined
    })
    return this.#block(value, path, {
      cities,
      externalCampaignId: this.#text(fields.nonEmpty),
      requisitionIds: texts,
      jobDescKeywords: texts,
      jobTitles: texts,
      postalCodes: texts,
      stateProvCodes: this.#list(this.#text(fields.stateCode)),
    })
  }

  #removal(value: unknown, path: YamlPath): Removal | undefined {
    const { externalCampaignId: key, endDate } = this.#block(value, path, {
      externalCampaignId: this.#text(fields.nonEmpty),
      endDate: this.#text(fields.date),
    })
    for (const wanted of ['externalCampaignId', 'endDate']) this.#require(value, path, wanted)
    return typeof key === 'string' && typeof endDate === 'string' ? { key, endDate } : undefined
  }

  #guards(value: unknown, path: YamlPath): Guards {
    const given = this.#block(value, path, {
      maxBudget: this.#text(fields.amount(2)),
      maxExposure: this.#text(fields.amount(2)),
      raisePercent: this.#text(fields.percent),
      createsPerDay: this.#text(fields.percent),
      maxShareOfFeed: this.#text(fields.share),
    })
    return { ...DEFAULT_GUARDS, ...given }
  }

  #distinct(campaigns: readonly DesiredCampaign[], removed: readonly Removal[]): void {
    const first = new Map<string, string>()
    const see = (what: string, text: string, path: YamlPath) => {
      const known = first.get(`${what}\n${text}`)
      if (known === undefined) first.set(`${what}\n${text}`, keyName(path))
      else this.#report(path, 'value', `stands twice: ${known} has the same ${what}`)
    }
    for (const [n, { key, name, campaignId }] of campaigns.entries()) {
      see('externalCampaignId', key, ['campaigns', n, 'externalCampaignId'])
      see('name', name.toLowerCase(), ['campaigns', n, 'name'])
      if (campaignId !== null) see('campaignId', campaignId, ['campaigns', n, 'campaignId'])
    }
    for (const [n, { key }] of removed.entries())
      see('externalCampaignId', key, ['removed', n, 'externalCampaignId'])
  }

  /** The values of a block whose keys are known; a key without a value is a mistake. */
  #block(value: unknown, path: YamlPath, shape: Shape): Values {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const problem = path.length === 0 ? 'no campaign is in this file' : 'expected a block of keys'
      this.#report(path, 'value', problem)
      return {}
    }
    const values: Values = {}
    for (const [key, content] of Object.entries(value)) {
      const take = Object.hasOwn(shape, key) ? shape[key] : undefined
      const below = [...path, key]
      if (take === undefined) {
        const near = nearest(key, Object.keys(shape))
        const meant = near === null ? '' : `, did you mean ${near}?`
        this.#report(below, 'key', `unknown key${meant}`)
        continue
      }
      const taken = take(content, below)
      if (taken !== undefined) values[key] = taken
    }
    return values
  }

  #list<T>(take: Take<T>): Take<T[]> {
    return (value, path) => {
      if (!Array.isArray(value)) {
        this.#report(path, 'value', 'expected a list')
        return undefined
      }
      return value.flatMap((item, n) => {
        const taken = take(item, [...path, n])
        return taken === undefined ? [] : [taken]
      })
    }
  }

  #require(value: unknown, path: YamlPath, key: string): void {
    const isBlock = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!isBlock || Object.hasOwn(value, key)) return
    // A misspelt key is one mistake, not two.
    const misspelt = Object.keys(value).some((known) => nearest(known, [key]) !== null)
    if (!misspelt) this.#report(path, 'key', `the key ${key} is missing`)
  }

  #report(path: YamlPath, what: 'key' | 'value', problem: string): void {
    const position = this.#document.positionOf(path, what)
    this.problems.push({ ...position, key: keyName(path), problem })
  }
}
