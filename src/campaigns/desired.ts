// Reads the campaigns file. YAML's failsafe schema keeps ids, postal codes and `NO` as text. All mistakes are reported
// at once, with their positions, and one mistake makes the whole file unusable.

import { keyName, parseYaml, type YamlPath, type YamlProblem } from '../lib/yaml.ts'
import { type BrokenRule, describeProblems, valueAt } from '../lib/yaml-problems.ts'
import { type Amount, showAmount } from './amount.ts'
import { FIELDS, type Values } from './fields.ts'
import {
  campaignsJsonSchema,
  ENTRY,
  type EntryInFile,
  type LimitsInFile,
  TARGETING,
  TOP,
} from './file-schema.ts'
import type { Targeting } from './service/port.ts'
import { type CanonicalTargeting, canonical } from './targeting.ts'

/** Entry is a campaign as the file describes it. */
export interface Entry {
  /** The external campaign id. It is always part of the targeting. */
  key: string
  /** The fields that the file names. An absent field is not managed. */
  values: Values
  /** null if the targeting is not managed. */
  targeting: CanonicalTargeting | null
  /** The service's id of the campaign; null if the file does not name it, so that we find it on the service. */
  campaignId: string | null
}

type DesiredReading =
  | { kind: 'desired'; entries: Entry[] }
  | { kind: 'problems'; problems: YamlProblem[] }

const NO_CAMPAIGN = 'this file names no campaign'

export function readDesired(text: string): DesiredReading {
  const nul = text.indexOf('\0')
  if (nul !== -1) {
    const line = text.slice(0, nul).split('\n').length
    const reason = 'a NUL byte: the file is incomplete, or is not text'
    return { kind: 'problems', problems: [{ line, column: 1, key: '', reason }] }
  }
  const document = parseYaml(text.replace(/^\uFEFF/, ''), 'failsafe')
  if (document.problems.length > 0) return { kind: 'problems', problems: document.problems }
  const raw = document.value
  const top = TOP.safeParse(raw)
  const given = valueAt(raw, ['campaigns'])
  const read = (Array.isArray(given) ? given : []).map((item: unknown, n) => {
    const path = ['campaigns', n] as const
    return { item, path, parsed: ENTRY.safeParse(item) }
  })
  const issues = [
    ...(top.error?.issues ?? []),
    ...read.flatMap(({ parsed, path }) =>
      (parsed.error?.issues ?? []).map((issue) => ({ ...issue, path: [...path, ...issue.path] })),
    ),
  ]
  const placed = read.flatMap(({ parsed, path }) =>
    parsed.success ? [{ path, entry: entryOf(parsed.data) }] : [],
  )
  const nameOf = (path: YamlPath) => nameIn(raw, path)
  const findings = [
    ...(issues.length + read.length === 0 ? [{ path: [], reason: NO_CAMPAIGN }] : []),
    ...read.flatMap(({ item, path }) => entryFindings(item, path)),
    ...duplicates(placed, nameOf),
    ...aboveLimits(placed, top.data?.limits ?? {}),
  ]
  if (issues.length + findings.length === 0)
    return { kind: 'desired', entries: placed.map(({ entry }) => entry) }
  const schema = campaignsJsonSchema()
  const problems = describeProblems(document, { issues, findings, schema, nameOf })
  return { kind: 'problems', problems }
}

/** readTargetingText reads a targeting from YAML or JSON. It returns the first problem as a string if it cannot. */
export function readTargetingText(text: string): Targeting | string {
  const document = parseYaml(text, 'failsafe')
  const parsed = TARGETING.safeParse(document.value)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const schema = campaignsJsonSchema().properties?.campaigns?.items?.properties?.targeting ?? {}
  const [first] = describeProblems(document, { issues, findings: [], schema })
  const { key = '', reason = 'expected an object' } = first ?? {}
  return `${key === '' ? '' : `${key}: `}${reason}`
}

function entryOf({ externalCampaignId: key, campaignId, targeting, ...rest }: EntryInFile): Entry {
  const given = FIELDS.filter((field) => rest[field] !== undefined)
  return {
    key,
    values: Object.fromEntries(given.map((field) => [field, rest[field]])),
    campaignId: campaignId ?? null,
    targeting:
      targeting === undefined ? null : canonical({ ...targeting, externalCampaignId: key }),
  }
}

interface PlacedEntry {
  entry: Entry
  path: YamlPath
}

/** nameIn names a place in the file. An entry is named by its key, `NUR-Q1.budget`, not by its number. */
function nameIn(raw: unknown, path: YamlPath): string {
  const [list, n] = path
  const isEntry = list === 'campaigns' && typeof n === 'number'
  const key = isEntry ? valueAt(raw, [list, n, 'externalCampaignId']) : null
  if (typeof key !== 'string' || key.trim() === '') return keyName(path)
  const rest = keyName(path.slice(2))
  return rest === '' ? key : `${key}.${rest}`
}

/**
 * entryFindings returns the rules that the values of an entry break together. It ignores values that cannot be read,
 * because the schema reports them.
 */
function entryFindings(item: unknown, path: YamlPath): BrokenRule[] {
  const at = (...below: string[]) => valueAt(item, below)
  const found: BrokenRule[] = []
  const report = (below: string[], reason: string) =>
    found.push({ path: [...path, ...below], reason })
  const dateAt = (field: 'startDate' | 'endDate') => {
    const { data } = ENTRY.shape[field].safeParse(at(field))
    return typeof data === 'string' ? data : null
  }
  const [start, end] = [dateAt('startDate'), dateAt('endDate')]
  if (start !== null && end !== null && end < start) report(['endDate'], 'is before startDate')
  const targeting = at('targeting')
  if (typeof targeting !== 'object' || targeting === null) return found
  if (Object.keys(targeting).length === 0)
    report(['targeting'], 'the targeting is empty: write all, or name what it selects')
  const ids = at('targeting', 'requisitionIds')
  if (Array.isArray(ids) && ids.length > 0 && at('allowWiden') !== 'true')
    report(
      ['targeting', 'requisitionIds'],
      'these ids add postings that the other lists leave out: write allowWiden: true into the entry to allow it',
    )
  const carried = at('targeting', 'externalCampaignId')
  if (carried !== undefined && carried !== at('externalCampaignId'))
    report(['targeting', 'externalCampaignId'], "is always the entry's own id: leave it out here")
  return found
}

/**
 * duplicates finds the keys, campaign ids and names that two entries have. The name of an entry with a `campaignId`
 * does not count.
 */
function duplicates(all: readonly PlacedEntry[], nameOf: (path: YamlPath) => string): BrokenRule[] {
  const first = new Map<string, string>()
  return all.flatMap(({ entry, path }) => {
    const { key, values, campaignId } = entry
    const [what, text] =
      campaignId !== null
        ? ['campaignId', campaignId]
        : ['name', typeof values.name === 'string' ? values.name.toLowerCase() : null]
    return [['externalCampaignId', key] as const, [what, text] as const].flatMap(
      ([kind, value]) => {
        if (value === null) return []
        const below = [...path, kind]
        const known = first.get(`${kind}\n${value}`)
        if (known !== undefined)
          return [{ path: below, reason: `duplicate ${kind}, already used by ${known}` }]
        first.set(`${kind}\n${value}`, nameOf(below))
        return []
      },
    )
  })
}

/** aboveLimits finds budgets above a limit, which are probably typing errors. Paused entries are not in the sum. */
function aboveLimits(
  all: readonly PlacedEntry[],
  { maxBudget, maxTotal }: LimitsInFile,
): BrokenRule[] {
  const budgetOf = ({ entry }: PlacedEntry): Amount => Number(entry.values.budget ?? 0)
  const total = all
    .filter(({ entry }) => entry.values.status !== 'paused')
    .reduce((sum, one) => sum + budgetOf(one), 0)
  const large = all.filter((one) => maxBudget !== undefined && budgetOf(one) > maxBudget)
  return [
    ...large.map(({ path }) => ({
      path: [...path, 'budget'],
      reason: `is above limits.maxBudget, ${showAmount(maxBudget ?? 0)}`,
    })),
    ...(maxTotal !== undefined && total > maxTotal
      ? [
          {
            path: ['limits', 'maxTotal'],
            reason: `the budgets add up to ${showAmount(total)}, which is above this limit`,
          },
        ]
      : []),
  ]
}
