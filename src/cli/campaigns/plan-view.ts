// A plan of the campaigns, and what feeds and campaigns have to do with each other, as text for people; rendered
// from the same model as the JSON.

import type { FeedFindings } from '../../campaigns/findings.ts'
import {
  COMMAND,
  isReady,
  type Plan,
  type PlanItem,
  quoted,
  type Selection,
} from '../../campaigns/plan.ts'
import type { Result } from '../../campaigns/send.ts'
import { limited } from '../../lib/limited.ts'
import { printable } from '../render.ts'

export function planText(plan: Plan, id: number): string {
  const { listing, summary, exposure, items, findings, stopped } = plan
  const seen = `${counted(listing.campaigns, 'campaign')} read, ${listing.complete ? 'complete' : `not complete: ${listing.reason}`}`
  const lines = [`plan ${id}, file ${plan.fileSha256.slice(0, 12)}, ${seen}`, feedLine(plan.feed)]
  if (stopped !== null) lines.push('', `nothing is written: ${stopped.reason}; ${stopped.needs}`)
  const ready = items.filter(isReady)
  if (ready.length > 0) lines.push('')
  for (const item of ready) lines.push(...itemLines(item))
  const held = items.filter((item) => !isReady(item))
  if (held.length > 0) lines.push('', 'held until you decide:')
  for (const item of held) lines.push(...itemLines(item))
  if (findings.length > 0) lines.push('', 'differs, and is not changed:')
  for (const { key, text, needs } of findings) {
    lines.push(`  ${key === null ? '' : `${key}: `}${text}`)
    if (needs !== null) lines.push(`    to decide: ${needs}`)
  }
  const feeds = feedLines(plan.feed)
  if (feeds.length > 0) lines.push('', 'feeds and campaigns:', ...feeds.map((text) => `  ${text}`))
  const counts = Object.entries(summary).map(([name, n]) => `${n} ${WORDS[name] ?? name}`)
  const { before, after, limit } = exposure
  lines.push('', counts.join(', '), `may spend, all together: ${before} -> ${after} of ${limit}`)
  const next = nextStep(plan, id)
  if (next !== null) lines.push(next)
  return lines.map(printable).join('\n')
}

function nextStep({ items, stopped, allowWiden }: Plan, id: number): string | null {
  const ready = items.filter(isReady)
  if (stopped !== null || ready.length === 0) return null
  const what = ready.some(({ method }) => method !== null)
    ? 'to do this'
    : 'to manage them from now on; nothing is sent'
  const widened =
    allowWiden.length === 0 ? '' : ` (its filters may go: ${allowWiden.map(quoted).join(', ')})`
  return `${what}: ${COMMAND} apply ${id}${widened}`
}

const WORDS: Record<string, string> = {
  reduce: 'to reduce',
  update: 'to update',
  create: 'to create',
}

function itemLines(item: PlanItem): string[] {
  const { key, campaignId, why, changes, action, held, money, postings, approval } = item
  const id = campaignId === null ? '' : `  id ${campaignId}`
  const approved = approval && held === null ? ' (the daemon leaves this to a person)' : ''
  return [
    `${sign(item)} ${key}${id}${held === null ? `  ${why}${approved}` : `  ${held.reason}`}`,
    ...changes.map(({ path, before, after, spend }) => {
      const from = action === 'create' ? '' : `${before ?? '(not known)'} -> `
      const direction = action === 'create' ? '' : `  [${SPENDS[spend]}]`
      return `    ${path}: ${from}${after ?? 'any'}${direction}`
    }),
    ...(money === null ? [] : [`    may spend: ${money.before} -> ${money.after}`]),
    ...(postings === null ? [] : [`    ${selectionText(postings)}`]),
    ...(held === null ? [] : [`    to go on: ${held.needs}`]),
  ]
}

const SPENDS = {
  down: 'spends less',
  neutral: 'spends the same',
  up: 'can spend more',
  unknown: 'may spend more',
} as const

function sign({ action, spend, held }: PlanItem): string {
  if (held !== null) return held.code === 'unknown' ? '? unknown' : '! held   '
  if (action === 'create') return '+ create '
  if (action === 'adopt') return '= manage '
  return spend === 'down' ? '- reduce ' : '~ update '
}

export function resultText({ key, campaignId, outcome, reason }: Result): string {
  const id = campaignId === null ? '' : ` (id ${campaignId})`
  return printable(`${outcome} ${key}${id}${reason === null ? '' : `: ${reason}`}`)
}

export const heldText = ({ key, held }: PlanItem): string =>
  printable(`held ${key}: ${held?.reason}; to go on: ${held?.needs}`)

/** Of a long list, so many are named. */
const NAMED = 10

export const NO_FEED = 'no feed was uploaded yet, so no postings are counted'

/** `NUR.xml 1,204 postings (version 118, 2026-11-20T06:00:00.000Z)`. */
function feedLine({ uploads, postings }: FeedFindings): string {
  const [only, another] = uploads
  if (only === undefined) return NO_FEED
  if (another !== undefined)
    return `${uploads.length} feeds with ${counted(postings, 'posting')}, as uploaded last`
  const { feed, version, uploadedAt } = only
  return `feed ${feed} with ${counted(postings, 'posting')} (version ${version}, uploaded ${uploadedAt})`
}

export function selectionText({ before, after }: Selection): string {
  const shown = (count: number | null) => count?.toLocaleString('en-US') ?? '(unknown)'
  return `postings ${shown(before)} -> ${shown(after)}`
}

function feedLines(feed: FeedFindings): string[] {
  const { waiting, gone, stale, overlaps, dead, orphans } = feed
  const soon = waiting.filter(({ startsSoon }) => startsSoon).map(({ key }) => key)
  return [
    ...feed.problems.map((problem) => `postings are not counted: ${problem}`),
    ...list('waiting, no feed has carried them yet', waiting, ({ key }) => key),
    ...list('of these, the campaign starts within two days', soon, (key) => key),
    ...each(gone, ({ key, kind, uploads, since, pinned }) => {
      const from = since === null ? '' : `, the first at ${since}`
      const still = pinned === 0 ? '' : `; ${counted(pinned, 'pinned requisition')} may still spend`
      return `${key}: ${kind}: ${counted(uploads, 'upload')} in a row without it${from}${still}`
    }),
    ...each(stale, ({ key, requisitionIds }) => {
      return `${key}: no posting has the pinned ${requisitionIds.slice(0, NAMED).join(', ')}`
    }),
    ...each(overlaps, ({ keys, postings }) => {
      return `${counted(postings, 'posting')} selected by ${keys}, which bid against each other`
    }),
    ...each(dead, ({ key, campaignId, why, postings }) => {
      return `${key}: ${counted(postings, 'posting')} look sponsored and are not: campaign ${campaignId} is ${why}`
    }),
    ...each(orphans, ({ externalCampaignId: id, postings, nearest }) => {
      const meant = nearest === null ? '' : `; did you mean ${nearest}?`
      return `${id}: ${counted(postings, 'posting')} carry it, and no entry of the file has it${meant}`
    }),
  ]
}

function list<T>(what: string, all: readonly T[], name: (one: T) => string): string[] {
  const left = all.length - NAMED
  const names = all.slice(0, NAMED).map(name).join(', ')
  return all.length === 0 ? [] : [`${what}: ${names}${left > 0 ? ` and ${left} more` : ''}`]
}

const each = <T>(all: readonly T[], say: (one: T) => string) =>
  limited(all.map(say), NAMED, (left) => `and ${left} more of these; --json lists all`)

export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en-US')} ${thing}${count === 1 ? '' : 's'}`
}
