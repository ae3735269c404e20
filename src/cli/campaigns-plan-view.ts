// A plan of the campaigns as text for people; rendered from the same model as the JSON.

import type { Result } from '../campaigns/apply.ts'
import type { Plan, PlanItem } from '../campaigns/plan.ts'
import { counted, feedLine, feedNotices, selectionText } from './campaigns-feed-view.ts'
import { printable } from './render.ts'

export function planText(plan: Plan, id: number | null): string {
  const { listing, summary, exposure } = plan
  const seen = `${counted(listing.campaigns, 'campaign')} read, ${listing.complete ? 'complete' : `not complete: ${listing.reason}`}`
  const lines = [
    `plan${id === null ? '' : ` ${id}`}, file ${plan.fileSha256.slice(0, 12)}, ${seen}`,
    feedLine(plan.feed),
    ...(plan.stopped === null ? [] : ['', `stopped, nothing is written: ${plan.stopped}`]),
  ]
  const shown = plan.items.filter(({ action }) => action !== 'agree')
  if (shown.length > 0) lines.push('')
  for (const item of shown) lines.push(...itemLines(item))
  if (plan.drift.length > 0) lines.push('', 'different on the service, left alone:')
  lines.push(...plan.drift.map((text) => `  ${text}`))
  const notices = [...plan.notices, ...feedNotices(plan.feed)]
  if (notices.length > 0) lines.push('', 'noticed:')
  lines.push(...notices.map((text) => `  ${text}`))
  const counts = Object.entries(summary).map(([name, n]) => `${n} ${WORDS[name] ?? name}`)
  lines.push('', counts.join(', '))
  lines.push(`budgets: ${exposure.before} -> ${exposure.after} of ${exposure.limit}`)
  return lines.map(printable).join('\n')
}

const WORDS: Record<string, string> = {
  reduce: 'to reduce',
  update: 'to update',
  create: 'to create',
}

function itemLines(item: PlanItem): string[] {
  const id = item.campaignId === null ? '' : `  id ${item.campaignId}`
  const why = item.reason === null ? '' : `  ${item.reason}`
  return [
    `${sign(item)} ${item.key}${id}${why}`,
    ...item.changes.map(({ path, before, after, spend }) => {
      const from = item.action === 'create' ? '' : `${before ?? '(nothing or unknown)'} -> `
      return `    ${path}: ${from}${after ?? 'any'}  [spend ${spend}]`
    }),
    ...(item.postings === null ? [] : [`    ${selectionText(item.postings)}`]),
    ...(item.needs === null ? [] : [`    to go on: ${item.needs}`]),
  ]
}

function sign({ action, spend }: PlanItem): string {
  switch (action) {
    case 'create':
      return '+ create '
    case 'update':
      return spend === 'down' ? '- reduce ' : '~ update '
    case 'adopt':
      return '~ adopt  '
    case 'agree':
      return '= agree  '
    case 'blocked':
      return '! blocked'
    case 'unknown':
      return '? unknown'
    default:
      return action satisfies never
  }
}

export function resultText({ key, campaignId, outcome, reason }: Result): string {
  const id = campaignId === null ? '' : ` (id ${campaignId})`
  return printable(`${outcome} ${key}${id}${reason === null ? '' : `: ${reason}`}`)
}
