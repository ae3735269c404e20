// Plans what is made: the mark in its name, everything that is sent, and why it waits. None is made without proof
// that it is not there already, or a person's word for the entry. Pure.

import { DAY, isoTime } from '../lib/clock.ts'
import { isDue, isRecent } from '../lib/due.ts'
import type { CampaignCreate } from '../service/port.ts'
import type { Part } from './compare.ts'
import { type DesiredCampaign, wantedTargeting } from './desired.ts'
import { selectionOf } from './effects.ts'
import { FIELDS, type Field, plain, showValue, type Values, wireOf } from './fields.ts'
import { maySpendWith, showMoney } from './ledger.ts'
import { COMMAND, type Held, heldBy, later, quoted } from './plan.ts'
import {
  isUnsettled,
  LATEST_LISTING,
  markOf,
  type Planning,
  WITHOUT_ID,
  whyNotGone,
} from './planning.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { NAMED, named, someOf } from './record.ts'
import { CRITERIA, filtersOf, isEmpty, onTheWire, said, valuesIn } from './targeting.ts'
import { bareName, tokenOf, tokensOf, withToken } from './token.ts'

/** The one way to a new campaign: what was sent before without a known end comes first. */
export function create(planning: Planning, entry: DesiredCampaign) {
  const { key, campaignId } = entry
  const { input, ledger } = planning
  const sent = planning.creates.get(key)
  if (isUnsettled(sent)) return planning.hold(key, null, whyUnknown(planning, sent))
  if (campaignId !== null) {
    const reason = `a successor was asked for, and the entry names campaign ${campaignId}`
    const needs = `${WITHOUT_ID}, or to keep it: ${COMMAND} adopt ${quoted(key)} ${campaignId}`
    return planning.hold(key, campaignId, heldBy('conflict', reason, needs, 'successor'))
  }
  const { effects, facts, now } = input
  planning.raises.push(() => {
    const made = creationOf(entry, tokenFor(planning, key))
    const postings = selectionOf(effects, null, wantedTargeting(entry))
    const why = planning.truncated ?? whyNotCreated(planning, entry)
    const last = planning.creates.get(key)
    const isSame = JSON.stringify(last?.body) === JSON.stringify(made.body)
    const isRefused = last?.outcome === 'refused' && isRecent(last.at, now, DAY) && isSame
    const isFirst = facts?.approvedAt == null
    const first = isFirst ? '; the first plan of a database is approved by a person' : ''
    planning.add({
      ...{ key, action: 'create', method: 'POST', spend: 'up', postings, ...made },
      held: why ?? ledger.share(postings, effects) ?? ledger.create(key, made.values),
      money: { before: '0.00', after: showMoney(maySpendWith(made.values, now)) },
      approval: isFirst || isRefused,
      why: isRefused
        ? `the service refused it at ${isoTime(last.at)}: ${last.reason}`
        : `new in the file${first}`,
    })
  })
}

/** A mark of its own: after a lost database an older campaign of the key may carry the next one. */
function tokenFor({ input, tokens }: Planning, key: string): string {
  const { identity, generation } = input
  for (let n = generation(key) + 1; ; n++) {
    const token = tokenOf(identity, key, n)
    if (!tokens.has(token)) return token
  }
}

/** Everything that a create sends, and what it leaves to the service's defaults. */
function creationOf(
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

/** What would hold a new campaign of the entry now; null: nothing. Nothing else can be planned with it. */
export function heldCreation(planning: Planning, entry: DesiredCampaign): Held | null {
  create(planning, entry)
  for (const judge of planning.raises) judge()
  return planning.items.find(({ key }) => key === entry.key)?.held ?? null
}

function whyNotCreated(planning: Planning, entry: DesiredCampaign): Held | null {
  const { absence, input } = planning
  const { key, name } = entry
  const { incomplete } = input.seen
  if (incomplete !== null) return later(`the listing is not complete: ${incomplete}`)
  // A person's word stands against whatever lists do not show.
  const unlessSaid = (why: (planning: Planning, entry: DesiredCampaign) => Held | null) =>
    input.newEntries.has(key) ? null : why(planning, entry)
  const renamed = unlessSaid(whyRenamed)
  if (renamed !== null) return renamed
  const { count, likeliest: candidates } = absence.candidates(key, name, NAMED)
  const [likeliest] = candidates
  if (likeliest === undefined)
    return (
      whyNotWhole(entry, input.now) ??
      unlessSaid(whyShared) ??
      whyTooEarly(planning) ??
      unlessSaid(whyNotListed) ??
      unlessSaid(whyLetGo)
    )
  const reason = `it may be there already: ${someOf(candidates, count)}`
  const needs = `${COMMAND} adopt ${quoted(key)} ${likeliest.id} if that is it; ${COMMAND} create ${quoted(key)} --new if none of them is`
  return heldBy('absence', reason, needs, 'candidates')
}

/** Whoever made campaigns of this account from another database may make this one, too. */
function whyShared({ input }: Planning, { key }: DesiredCampaign): Held | null {
  const shared = input.records.find(
    ({ campaignId, origin, token }) =>
      origin === 'adopted' && token !== null && !input.made.has(campaignId),
  )
  if (shared === undefined) return null
  const reason = `another database made campaign ${shared.campaignId}, so it may make this one too`
  const needs = `${COMMAND} create ${quoted(key)} --new; if that database is gone for good: ${COMMAND} adopt --marked --yes`
  return heldBy('absence', reason, needs, 'another database')
}

/** A listing alone proves no absence while it may be late. */
function whyTooEarly({ input: { unknownCreatesUntil, now } }: Planning): Held | null {
  const until = unknownCreatesUntil === null ? now : unknownCreatesUntil + LATEST_LISTING
  if (isDue(until, now, LATEST_LISTING)) return null
  return later(
    `the state directory was restored or copied, or the host started again, and lists may not show yet what was created before: it is created from ${isoTime(until)} on`,
  )
}

/** A direct create that was answered: the campaign is there, and lists may show it later. */
function whyNotListed(planning: Planning, { key }: DesiredCampaign): Held | null {
  const { byId, campaigns, creates, input, records } = planning
  const { at = 0, campaignId = null, outcome } = creates.get(key) ?? {}
  const isKnown = campaignId === null || campaigns.has(campaignId) || byId.has(campaignId)
  const isSettled = outcome !== 'done' || isKnown || records.has(key)
  if (isSettled || isDue(at + LATEST_LISTING, input.now, LATEST_LISTING)) return null
  return later(
    `campaign ${campaignId} was made for it at ${isoTime(at)}, and lists may not show it yet`,
  )
}

/** Why the entry itself is not enough for a new campaign. */
function whyNotWhole(entry: DesiredCampaign, now: number): Held | null {
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
function whyRenamed(planning: Planning, { key, name }: DesiredCampaign): Held | null {
  const { campaigns, creates, input, keys, records, unlisted } = planning
  const wanted = plain(name)
  const tokens = tokensOf(input.identity, key)
  const its = new Set(
    [...tokens.map(markOf), wanted].flatMap((text) => planning.unlistedBy.get(text) ?? []),
  )
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
function whyLetGo({ byId, campaigns, input }: Planning, { key }: DesiredCampaign): Held | null {
  const gone = input.others.find(
    ({ id, key: of }) => of === key && !campaigns.has(id) && !byId.has(id),
  )
  if (gone === undefined) return null
  const reason = `campaign ${gone.id} was its campaign until it was forgotten, and the service does not show it now`
  return heldBy('absence', reason, `${COMMAND} create ${quoted(key)} --new`, 'forgotten')
}

export function whyUnknown(
  { absence, input }: Planning,
  { key, at, body, reason }: CampaignWrite,
): Held {
  const alike = [...new Set(absence.resembling({ key, name: bareName(body?.name ?? '') }))]
  const [first] = alike
  const missed = input.seen.incomplete ?? 'no complete listing shows it so far'
  const looked = first ? `it may be ${alike.slice(0, NAMED).map(named).join(', ')}` : missed
  const said = reason === null ? '' : ` (${reason})`
  const why = `whether it was created at ${isoTime(at)} is not known${said}: ${looked}`
  const needs = `look on the service, then: ${COMMAND} adopt ${quoted(key)} ${first?.id ?? 'ID'}, or ${COMMAND} create ${quoted(key)} --new`
  return heldBy('unknown', why, needs, '', true)
}
