// Reads the service's answers about campaigns. It tolerates unknown fields and unexpected types, but it is strict about
// the ids and the list.

import { redactValue, shownName } from '../../lib/secrets.ts'
import { isObject, parseBody, Unusable } from '../../service/json-answer.ts'
import type { Campaign, CampaignPage } from './port.ts'

type JsonType = 'text' | 'number' | 'integer'

/** Specification section 2, "Campaign"; all but `spend` and `sponsoredPostings` can be null. */
const FIELDS: Record<
  Exclude<keyof Campaign, 'id' | 'other'>,
  readonly [JsonType, nullable: boolean]
> = {
  accountId: ['text', true],
  name: ['text', true],
  startDate: ['text', true],
  endDate: ['text', true],
  budget: ['number', true],
  autoBidLevel: ['text', true],
  cpc: ['number', true],
  maxCpc: ['number', true],
  period: ['integer', true],
  status: ['integer', true],
  spend: ['number', false],
  sponsoredPostings: ['integer', false],
  leads: ['integer', true],
  paidCpaGoal: ['number', true],
}

const HAS_TYPE: Record<JsonType, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: Number.isSafeInteger,
}

/** isUsableId returns whether an id can be one part of a path. `.`, `..` and an empty id would name another route. */
export const isUsableId = (id: string): boolean => !/^\.{0,2}$/.test(id)

/**
 * readCampaign returns the campaign of an answer. `asked` is the id of the request. The answer can omit the id, because
 * all fields are optional (specification section 2); another id is an error, because any server might answer a path
 * that does not exist. For a new campaign `asked` is null, and the answer must contain the id. Throws `Unusable`.
 */
export function readCampaign(body: Buffer, asked: string | null = null): Campaign {
  const json = parse(body)
  if (!isObject(json)) throw new Unusable('JSON that is not a campaign')
  const campaign = toCampaign(json.id == null && asked !== null ? { ...json, id: asked } : json)
  if (campaign === null) throw new Unusable('JSON that is not a campaign with an "id"')
  if (asked !== null && campaign.id !== asked) throw new Unusable('a campaign with another id')
  return campaign
}

/**
 * readPage reads the answer to a search. The specification does not name the property with the campaigns, so readPage
 * takes the only array of campaigns, or else the only empty array. The answer can also be a bare array, and with
 * `total` 0 it needs no array. Rows without an id are counted and left out. Throws `Unusable`.
 */
export function readPage(body: Buffer): CampaignPage {
  const json = parse(body)
  const found = Array.isArray(json) ? { name: '', items: json } : findList(json)
  if (!found.items.every(isObject))
    throw new Unusable('a list in which not every item is a campaign')
  const campaigns = found.items.map(toCampaign).filter((campaign) => campaign !== null)
  const envelope = isObject(json) ? json : {}
  const number = (name: string) =>
    HAS_TYPE.integer(envelope[name]) ? (envelope[name] as number) : null
  return {
    campaigns,
    total: number('total'),
    startNum: number('startNum'),
    endNum: number('endNum'),
    numRequested: number('numRequested'),
    fromCache: typeof envelope.fromCache === 'boolean' ? envelope.fromCache : null,
    self: typeof envelope.self === 'string' ? withoutUser(envelope.self) : null,
    elapsed: number('elapsed'),
    listField: found.name,
    withoutId: found.items.length - campaigns.length,
  }
}

/** withoutUser returns an address as it is, but without a user name and a password. */
const withoutUser = (address: string) => address.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1')

/** findList returns the array of campaigns in an answer, by the rule of `readPage`. Throws `Unusable`. */
function findList(envelope: unknown): { name: string; items: unknown[] } {
  if (!isObject(envelope)) throw new Unusable('JSON that is neither an object nor a list')
  const arrays = Object.entries(envelope).flatMap(([name, items]) =>
    Array.isArray(items) ? [{ name, items }] : [],
  )
  const isEmpty = envelope.total === 0 && arrays.every(({ items }) => items.length === 0)
  const ofCampaigns = arrays.filter(
    ({ items }) => items.every(isObject) && items.some((item) => toCampaign(item) !== null),
  )
  const candidates =
    ofCampaigns.length > 0 ? ofCampaigns : arrays.filter((a) => a.items.length === 0)
  const [only, another] = candidates
  if (only !== undefined && another === undefined) return only
  if (isEmpty) return { name: '', items: [] }
  throw new Unusable(
    another === undefined
      ? `no list of campaigns among its properties${shownNames(Object.keys(envelope))}`
      : `several lists${shownNames(candidates.map(({ name }) => name))}, and each of them might be the campaigns`,
  )
}

function shownNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).filter((name) => shownName(name) !== null)
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`
}

/** toCampaign reads one campaign; null if it has no usable id. */
function toCampaign(value: Record<string, unknown>): Campaign | null {
  const { id, ...rest } = value
  // An id of digits can come as a number. Above 2^53 JSON loses digits, so such a number is not usable as an id.
  const text = Number.isSafeInteger(id) ? String(id) : id
  if (typeof text !== 'string' || !isUsableId(text)) return null
  const known: Record<string, unknown> = {}
  const other: Record<string, unknown> = {}
  for (const [name, content] of Object.entries(rest)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof typeof FIELDS] : undefined
    const [type, nullable] = field ?? []
    const isDocumented =
      type !== undefined && (content === null ? nullable : HAS_TYPE[type](content))
    const into = isDocumented ? known : other
    into[name] = content
  }
  return { id: text, ...known, other }
}

const parse = (body: Buffer) => parseBody(body, (text) => JSON.parse(text, withoutSecrets))

/** withoutSecrets hides known secrets in a text and in the names of properties; JSON.parse calls it for every value. */
function withoutSecrets(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return redactValue(value)
  if (!isObject(value)) return value
  const names = Object.keys(value)
  const shown = names.map(redactValue)
  return shown.every((name, i) => name === names[i])
    ? value
    : Object.fromEntries(shown.map((name, i) => [name, value[names[i] ?? '']]))
}
