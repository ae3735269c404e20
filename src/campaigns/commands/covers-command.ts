// feedsyncd campaigns covers/why: which postings a campaign covers, and why a posting is covered or not. The two
// commands do not ask the service.

import type { Command } from 'commander'
import { printable } from '../../lib/printable.ts'
import { countOf, relativeTime } from '../../lib/units.ts'
import type { Context } from '../../terminal/context.ts'
import { define, usageError } from '../../terminal/define.ts'
import { table, widthOf } from '../../terminal/render.ts'
import type { Covers } from '../covers.ts'
import type { PostingRow } from '../posting-rows.ts'
import type { WhyEntry, WhyPosting } from '../why.ts'
import { forever } from './confirm.ts'
import { currentEntries, currentEntry } from './named-entries.ts'
import { wholeNumber } from './options.ts'
import { NO_FEED } from './plan-view.ts'

const DEFAULT_LIMIT = 20

export function coversCommand(context: Context): Command {
  const text = 'list the postings of the last uploads that a campaign covers'
  return define<{ limit: number }>(context, 'covers', text, async (call, key: string) => {
    const { config, options, show } = call
    const { coversOf } = await import('../covers.ts')
    const entry = await currentEntry(call, key)
    const covers = await coversOf(config, { entry, limit: options.limit }, forever)
    if (options.json) return show(covers, () => '')
    if (covers.rows.length > 0) context.out(postingsTable(covers.rows, widthOf(context)))
    const left = covers.counted - covers.rows.length
    if (left > 0) context.err(`and ${countOf(left)} more; --limit shows them`)
    for (const line of coversLines(covers, context.clock.now())) context.err(printable(line))
  })
    .argument('<key>', 'external campaign id of the entry')
    .option('--limit <n>', 'the most postings to list', wholeNumber, DEFAULT_LIMIT)
}

function postingsTable(rows: readonly PostingRow[], width: number | null) {
  const cells = rows.map((row) =>
    [row.id, row.title, row.city, row.state, row.postalCode, row.requisitionId].map(
      (cell) => cell ?? null,
    ),
  )
  return table(['id', 'title', 'city', 'state', 'postal code', 'requisition'], cells, width)
}

function coversLines(covers: Covers, now: number): string[] {
  const { key, campaignId, carrying, covered, at, isAtMost, isOlder, postings, problems } = covers
  if (problems.length > 0) return problems
  if (postings === 0) return [NO_FEED]
  const notable = covers.criteria.filter(({ takes, unmet }) => takes < carrying || unmet.length > 0)
  const service =
    covered === null
      ? ''
      : `; the service says ${countOf(covered)} (asked ${relativeTime(at, now)})`
  return [
    `${campaignId === null ? key : `campaign ${campaignId} of ${key}`} covers ${isAtMost ? 'at most ' : ''}${countOf(covers.counted)} of ${countOf(postings, 'posting')} by our count${service}`,
    ...(isOlder ? ['this is the targeting that was sent last; the file has another one'] : []),
    `${countOf(carrying, 'posting')} ${carrying === 1 ? 'carries' : 'carry'} the id ${key}`,
    ...notable.map(({ name, takes, unmet }) => {
      const values = unmet.slice(0, MOST_UNMET).map(({ value, near }) => {
        return near === null ? value : `${value} (did you mean ${near}?)`
      })
      const none = values.length === 0 ? '' : `; none of them has ${values.join(', ')}`
      return `  ${name} takes ${countOf(takes)} of them${none}`
    }),
  ]
}

const MOST_UNMET = 5

export function whyCommand(context: Context): Command {
  const text = 'say which campaigns cover a posting, and which criterion leaves it out'
  return define(context, 'why', text, async (call, id: string) => {
    const { config, options, show } = call
    const { whyOf } = await import('../why.ts')
    const why = await whyOf(config, { id, entries: await currentEntries(call) }, forever)
    for (const problem of why.problems) context.err(printable(problem))
    if (why.postings.length === 0) {
      const where = why.feeds === 0 ? NO_FEED : `no posting of the last uploads has the id ${id}`
      throw usageError(where, "give a posting's id or requisition id, as it is in the feed")
    }
    if (options.json) return show(why, () => '')
    context.out(why.postings.map((one) => whyText(one).map(printable).join('\n')).join('\n\n'))
  }).argument('<posting>', 'id or requisition id of a posting, as it is in the feed')
}

function whyText({ posting, entries, others, near }: WhyPosting): string[] {
  const { id, title, city, state, postalCode, requisitionId, externalCampaignId } = posting
  const place = [city, state, postalCode].filter(Boolean).join(' ')
  const requisition = requisitionId ? `requisition ${requisitionId}` : null
  const facts = [title, place, requisition].filter(Boolean).join(', ')
  const carried = externalCampaignId?.trim() ?? ''
  const meant = near === null ? '' : `; did you mean ${near}?`
  const hasOwn = entries.some(({ key }) => key === carried)
  return [
    `${id ?? requisitionId}: ${facts}`,
    carried === '' ? '  it carries no external campaign id' : `  it carries the id ${carried}`,
    ...(carried !== '' && !hasOwn ? [`  no entry has the id ${carried}${meant}`] : []),
    ...entries.flatMap(entryLines),
    ...(others === 0
      ? []
      : [
          `- ${others === 1 ? 'another entry leaves' : `${countOf(others)} other entries leave`} it out: externalCampaignId`,
        ]),
  ]
}

function entryLines({ key, campaignId, status, isTaken, reason, later }: WhyEntry): string[] {
  const of = campaignId === null ? 'no campaign yet' : `campaign ${campaignId}`
  const idle = status === null || status === 'running' ? '' : `, ${status}`
  const name = `${key} (${of}${idle})`
  const says = isTaken
    ? `+ ${name} ${campaignId === null ? 'will cover' : 'covers'} it: ${reason}`
    : `- ${name} leaves it out: ${reason}`
  if (later === null) return [says]
  const then = later.isTaken ? 'covers it' : `leaves it out: ${later.reason}`
  return [says, `    with the targeting in the file, which is not sent yet, it ${then}`]
}
