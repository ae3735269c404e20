// Everything that a create sends for an entry, the mark in its name, and whether the entry may be one that was
// called otherwise. Pure.

import { DAY } from '../lib/clock.ts'
import type { CampaignCreate } from '../service/port.ts'
import type { Part } from './compare.ts'
import { type DesiredCampaign, wantedTargeting } from './desired.ts'
import { FIELDS, type Field, plain, showValue, type Values, wireOf } from './fields.ts'
import { COMMAND, type Held, quoted } from './plan.ts'
import { heldBy, isUnsettled, markOf, type Planning, whyNotGone } from './planning.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { named } from './record.ts'
import { CRITERIA, filtersOf, isEmpty, onTheWire, said, valuesIn } from './targeting.ts'
import { bareName, tokenOf, tokensOf, withToken } from './token.ts'

/** A mark of its own: after a lost database an older campaign of the key may carry the next one. */
export function tokenFor({ input, tokens }: Planning, key: string): string {
  const { identity, generation } = input
  for (let n = generation(key) + 1; ; n++) {
    const token = tokenOf(identity, key, n)
    if (!tokens.has(token)) return token
  }
}

/** Everything that a create sends, and what it leaves to the service's defaults. */
export function creationOf(
  entry: DesiredCampaign,
  token: string,
): Pick<Part, 'values' | 'targeting' | 'changes'> & { body: CampaignCreate } {
  const name = withToken(entry.name, token)
  const targeting = wantedTargeting(entry)
  const values: Values = { endDate: null, period: 'once', ...entry.values, name }
  const wire = FIELDS.map((field) => [field, wireOf(field, values[field] ?? null)] as const)
  const sent = wire.filter(([, value]) => value !== null)
  const shown = new Set<Field>([...sent.map(([field]) => field), 'period', 'startDate', 'endDate'])
  const texts = [...shown].map((field) => [field, showValue(field, values[field])])
  const filters = CRITERIA.filter((one) => !isEmpty(targeting, one))
  const lists = filters.map((one) => [`targeting.${one}`, said(valuesIn(targeting, one))])
  const all = filtersOf(targeting) === 0 ? [['postings', 'all that carry the id']] : []
  return {
    body: { ...Object.fromEntries(sent), name, targeting: onTheWire(targeting, []) },
    ...{ values, targeting },
    changes: [...texts, ...lists, ...all].map(([path = '', text = '']) => {
      const after = path === 'startDate' && values.startDate === undefined ? 'at once' : text
      return { path, before: null, after, spend: 'up' }
    }),
  }
}

/** Why the entry itself is not enough for a new campaign. */
export function whyNotWhole(entry: DesiredCampaign, now: number): Held | null {
  const { values, emptyLists, allPostings } = entry
  if (filtersOf(wantedTargeting(entry)) === 0 && !allPostings) {
    const reason =
      'the entry has no targeting, so it would sponsor every posting that carries its id'
    return heldBy('entry', reason, 'write targeting:, or allPostings: true', 'targeting')
  }
  const [empty] = emptyLists
  if (empty !== undefined && !allPostings) {
    const reason = `targeting.${empty} is an empty list, which selects any`
    return heldBy('entry', reason, 'leave it out, or write allPostings: true', 'empty list')
  }
  const { startDate } = values
  // A day begins at different times: a start of today is no start in the past.
  if (typeof startDate === 'string' && Date.parse(startDate) < now - DAY)
    return heldBy(
      'entry',
      `startDate ${startDate} is past`,
      'write a later one, or leave it out',
      'startDate',
    )
  return null
}

/** A campaign that runs on, or may, whose entry is not in the file: this entry may be it under another key. */
export function whyRenamed(planning: Planning, { key, name }: DesiredCampaign): Held | null {
  const { campaigns, creates, input, keys, records, unlisted } = planning
  const wanted = plain(name)
  const tokens = tokensOf(input.identity, key)
  const its = new Set([...tokens.map(markOf), wanted].flatMap((text) => planning.unlistedBy(text)))
  const mayRun = (record: CampaignRecord) => {
    const campaign = campaigns.get(record.campaignId)
    if (campaign !== undefined) return planning.runs(campaign)
    return !planning.isOver(record) && whyNotGone(record, input.now) !== null
  }
  const other = `${COMMAND} create ${quoted(key)} --new if it is not`
  const found = unlisted.find((record) => its.has(record) && mayRun(record))
  if (found !== undefined) {
    const { campaignId: id, token } = found
    const has =
      token !== null && tokens.includes(token) ? 'was made for this entry' : 'has this name'
    const reason = `campaign ${named(campaigns.get(id) ?? { id, other: {} })} ${has}, runs on, and its entry is not in the file any more`
    const needs = `write campaignId: ${JSON.stringify(id)} into the entry if it is the same campaign under another key; ${other}`
    return heldBy('absence', reason, needs, 'renamed')
  }
  const isOut = (sent: CampaignWrite) => !keys.has(sent.key) && !records.has(sent.key)
  const isSame = (text: unknown) => typeof text === 'string' && plain(bareName(text)) === wanted
  const sent = creates
    .values()
    .find((one) => isUnsettled(one) && isOut(one) && isSame(one.body?.name))
  if (sent === undefined) return null
  const reason = `whether the campaign of ${sent.key} was created, which has this name and is not in the file any more, is not known`
  const needs = `wait until lists show it if it is the same campaign under another key; ${other}`
  return heldBy('absence', reason, needs, 'renamed')
}

/** A person let it go, and nothing shows it: it may be there all the same. */
export function whyLetGo({ byId, campaigns, input }: Planning, key: string): Held | null {
  if (input.newEntries.has(key)) return null
  const gone = input.others.find(
    ({ id, key: of }) => of === key && !campaigns.has(id) && !byId.has(id),
  )
  if (gone === undefined) return null
  const reason = `campaign ${gone.id} was its campaign until it was forgotten, and the service does not show it now`
  return heldBy('absence', reason, `${COMMAND} create ${quoted(key)} --new`, 'forgotten')
}
