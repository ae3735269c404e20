// Reads campaigns.yaml: failsafe YAML, so that ids, postal codes and `NO` stay text, and our own types.
// Every mistake is reported at once, with its position; one mistake makes the whole file unusable.

import * as fields from '../lib/text-fields.ts'
import { keyName, parseYaml, type YamlPath } from '../lib/yaml.ts'
import { type FieldProblem, YamlReading } from '../lib/yaml-reading.ts'
import type { City, Targeting } from '../service/port.ts'
import {
  DEFAULT_GUARDS,
  type Desired,
  type DesiredCampaign,
  type Guards,
  type Removal,
} from './desired.ts'
import { canonical } from './targeting.ts'

export type DesiredReading =
  | { kind: 'desired'; desired: Desired }
  | { kind: 'problems'; problems: FieldProblem[] }

export function readDesired(text: string): DesiredReading {
  const document = parseYaml(text.replace(/^\uFEFF/, ''), { schema: 'failsafe' })
  if (document.problems.length > 0) {
    const problems = document.problems.map(({ line, column, message }) => ({
      ...{ line, column, key: '', problem: message },
    }))
    return { kind: 'problems', problems }
  }
  const reading = new Reading(document, 'no campaign is in this file')
  const desired = reading.whole()
  const problems = reading.problems.sort((a, b) => a.line - b.line || a.column - b.column)
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'desired', desired }
}

const nameOf: fields.Reader<string> = (text) => {
  const value = text.normalize('NFC').trim().replace(/\s+/g, ' ')
  if (value === '') return { problem: 'must not be empty' }
  // The token is recognised by this pattern; a name that has one already would be taken for ours.
  return /\[#[^\]]*\]/.test(value)
    ? { problem: 'must not hold "[#...]": it marks our token' }
    : { value }
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
      endDate: text(fields.date),
      autoBidLevel: text(fields.oneOf('accelerated', 'standard')),
      cpc: text(fields.amount(4)),
      maxCpc: text(fields.amount(4)),
      paidCpaGoal: text(fields.amount(4)),
      campaignId: text(fields.nonEmpty),
      adopt: text(fields.oneOf('observe', 'takeover')),
      allowWiden: text(fields.flag),
      targeting: (at, below) => this.#targeting(at, below),
      lifecycle: (at, below) => this.block(at, below, { preventEnd: text(fields.flag) }),
    })
    const { externalCampaignId: key, name, allowWiden, lifecycle, targeting, ...rest } = entry
    for (const wanted of ['externalCampaignId', 'name']) this.require(value, path, wanted)
    if (entry.adopt !== undefined && entry.campaignId === undefined)
      this.report([...path, 'adopt'], 'key', 'says how to adopt, but campaignId is missing')
    const { startDate, endDate } = entry as { startDate?: string; endDate?: string }
    if (startDate !== undefined && endDate !== undefined && endDate < startDate)
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
      else this.report(path, 'value', `stands twice: ${known} has the same ${what}`)
    }
    for (const [n, { key, name, campaignId }] of campaigns.entries()) {
      see('externalCampaignId', key, ['campaigns', n, 'externalCampaignId'])
      see('name', name.toLowerCase(), ['campaigns', n, 'name'])
      if (campaignId !== null) see('campaignId', campaignId, ['campaigns', n, 'campaignId'])
    }
    for (const [n, { key }] of removed.entries())
      see('externalCampaignId', key, ['removed', n, 'externalCampaignId'])
  }
}
