// Writes a plan as text for people. Other commands show parts of this text, too.

import { commandFor } from '../../domain/command.ts'
import { printable } from '../../lib/printable.ts'
import { countOf } from '../../lib/units.ts'
import { hintText } from '../../ops/advice.ts'
import { numbersText, totalsOf } from '../../ops/campaigns/numbers.ts'
import type { CommandLine } from '../../ops/port.ts'
import { changeLines, targetingText, valueLines } from '../change-text.ts'
import type { Selection } from '../effects.ts'
import { changeOf, targetingChange } from '../field-changes.ts'
import { FIELDS, rawOf, shownValue } from '../fields.ts'
import type { JudgedEntry } from '../judged-entry.ts'
import type { LookFinding } from '../look-facts.ts'
import { isStuck, type Plan, type PlanEntry, type PlanItem } from '../plan.ts'
import { sentOf } from '../sent.ts'
import type { Campaign } from '../service/port.ts'
import { type CanonicalTargeting, readTargeting } from '../targeting.ts'

interface PlanView {
  commandLine: CommandLine
  /** The keys that the command was called with; empty if it was called for all entries. */
  keys: readonly string[]
  /** The facts behind the plan. With them the text says what we sent, if the service does not show targeting. */
  judged?: readonly JudgedEntry[]
  /** True if the command then asks the person: the text names no command that sends the plan. */
  isAsked?: boolean
}

export function planText(plan: Plan, { commandLine, keys, judged, isAsked }: PlanView): string {
  const { items, entries, findings, listing, warning, digest } = plan
  const known = new Map(judged?.map((one) => [one.entry.key, one]))
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  const next = (text: string | null) =>
    text === null ? [] : [`    next: ${hintText(text, commandLine)}`]
  const sent = items.filter(({ changes }) => changes.length > 0).length
  const bound = items.filter(({ action }) => action === 'bind').length
  const sizes = [
    ...(bound === 0 ? [] : [`${countOf(bound, 'campaign')} to bind`]),
    ...(sent === 0 ? [] : [`${bound === 0 ? countOf(sent, 'campaign') : sent} to send`]),
  ]
  const seen = entries.flatMap(({ coverage }) => coverage ?? [])
  const exactly =
    keys.length === 0
      ? commandFor('campaigns apply --plan <digest>', digest)
      : commandFor('campaigns apply <key...> --plan <digest>', keys, digest)
  const isNamed = items.length > 0 && !isAsked
  const blocks = [
    [listingText(listing), ...feedTexts(plan)],
    ...items.map((item) =>
      itemLines(item, { entry: byKey.get(item.key), judged: known.get(item.key) }),
    ),
    ...entries.filter(isRepeated).map((entry) => [`~ ${entry.key}: pending: ${entry.reason}`]),
    ...entries.filter(isStuck).map((entry) => [stuckText(entry), ...next(entry.next)]),
    findingLines(findings, next),
    warning === null ? [] : [`warning: ${warning}`],
    [
      ...(seen.length === 0
        ? []
        : [`${countOf(seen.length, 'campaign')}: ${numbersText(totalsOf(seen))}`]),
      sizes.join(', ') || 'nothing to send',
      ...(isNamed ? [`to send exactly this: ${commandLine(exactly)}`] : []),
    ],
  ]
  const texts = blocks.filter(({ length }) => length > 0)
  return texts.map((block) => block.map(printable).join('\n')).join('\n\n')
}

function listingText(listing: Plan['listing']): string {
  if (listing === null) return 'campaigns were read by id, without a listing'
  const { campaigns, complete, reason } = listing
  const count = `${countOf(campaigns, 'campaign')} read`
  return complete ? count : `${count}, but the list is not complete: ${reason}`
}

export const NO_FEED = 'no feed was uploaded yet, so no postings are counted'

function feedTexts({ feeds: { count, postings, problems } }: Plan): string[] {
  const uploaded = `${countOf(postings, 'posting')} in ${countOf(count, 'feed')}, as last uploaded`
  return [
    count === 0 ? NO_FEED : uploaded,
    ...problems.map((problem) => `postings are not counted: ${problem}`),
  ]
}

export const stuckText = ({ key, state, reason }: PlanEntry) =>
  `${state === 'blocked' ? '!' : '?'} ${key}: ${state}: ${reason}`

const SIGNS = { create: '+', update: '~', bind: '=' } as const

/** isRepeated returns whether the daemon sends a targeting again, so that `apply` has nothing to do. */
const isRepeated = ({ state, reason }: PlanEntry) => state === 'pending' && reason !== null

function itemLines(
  item: PlanItem,
  { entry, judged }: { entry: PlanEntry | undefined; judged: JudgedEntry | undefined },
): string[] {
  const { key, campaignId, action, changes, postings } = item
  const soon = entry?.state === 'pending' ? ', which the daemon will send soon' : ''
  const lines = [
    ...(action === 'create' ? valueLines(changes) : changeLines(changes)),
    ...(judged === undefined ? [] : hiddenTargeting(item, judged)),
    ...(postings === null ? [] : [selectionText(postings)]),
    ...(entry?.coverage ? [`now: ${numbersText(entry.coverage)}`] : []),
  ]
  if (changes.length === 0) lines.unshift('nothing is sent: the campaign is as the file says')
  const id = campaignId === null ? '' : ` campaign ${campaignId}`
  const head = `${SIGNS[action]} ${key}: ${action}${id}${soon}`
  return [head, ...lines.map((line) => `    ${line}`)]
}

function hiddenTargeting({ changes }: PlanItem, { campaign, known }: JudgedEntry): string[] {
  const isTargeted = changes.some(({ field }) => field === 'targeting')
  if (!isTargeted || campaign === null || rawOf(campaign, 'targeting') !== undefined) return []
  return [hiddenText(known.sent.targeting)]
}

/** hiddenText says what we know of a targeting that the service does not show. */
export function hiddenText(sent: CanonicalTargeting | null): string {
  const what = sent === null ? 'feedsyncd sent none' : `feedsyncd last sent ${targetingText(sent)}`
  return `the service does not show its targeting; ${what}`
}

/** bodyLines returns the changes that a request body makes. `campaign` is null if the body creates a campaign. */
export function bodyLines(body: object, campaign: Campaign | null): string[] {
  const { values, targeting } = sentOf(body)
  const changes = FIELDS.flatMap((field) => {
    const want = values[field]
    const current = campaign === null ? null : shownValue(campaign, field)
    return want === undefined ? [] : [changeOf(field, current, want)]
  })
  const current = campaign && readTargeting(rawOf(campaign, 'targeting'))
  const all = [...changes, ...targetingChange(targeting, current)]
  return campaign === null ? valueLines(all) : changeLines(all)
}

const MOST_OF_A_KIND = 10

function findingLines(all: readonly LookFinding[], next: (text: string | null) => string[]) {
  const lines = [...Map.groupBy(all, ({ code }) => code).values()].flatMap((alike) => {
    const texts = alike.slice(0, MOST_OF_A_KIND).flatMap((finding) => {
      const of = finding.key === null ? '' : `${finding.key}: `
      return [`  ${of}${finding.text}`, ...next(finding.next)]
    })
    const left = alike.length - MOST_OF_A_KIND
    return left > 0 ? [...texts, `  and ${left} more like these; --json lists all`] : texts
  })
  return lines.length === 0 ? [] : ['findings:', ...lines]
}

export function selectionText({ before, after }: Selection): string {
  const text = (count: number | null) => count?.toLocaleString('en-US') ?? '(not known)'
  return `postings: ${text(before)} -> ${text(after)}`
}
