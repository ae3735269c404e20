// The campaigns on the status page: how many need a person, and the entries and findings of the last look.

import { commandFor } from '../../domain/command.ts'
import { groupedMoney } from '../../lib/units.ts'
import { type Asked, stepsOfHint } from '../advice.ts'
import type { CommandLine } from '../port.ts'
import type { Problem } from '../problem.ts'
import { html, type Markup } from '../web/html.ts'
import {
  ago,
  count,
  NONE,
  type PageContext,
  sentence,
  type Tone,
  table,
} from '../web/page-parts.ts'
import { paceBar } from '../web/plots.ts'
import { steps } from '../web/problem-cards.ts'
import { budgetText, countText, passedShare, periodText, totalsOf } from './numbers.ts'
import { campaignsInTrouble } from './problems.ts'
import type {
  CampaignFinding,
  CampaignNumbers,
  CampaignRun,
  CampaignSeen,
  Coverage,
} from './run.ts'

/** How many entries and findings are shown. The page has the problems of campaigns above this section. */
const MOST = 5

const ENTRY_COLUMNS = ['Campaign', '#Covered', '#Spent', '#Left', 'Budget and period', 'State']
const FINDING_COLUMNS = ['Campaign', 'Finding', 'Next step']

export function campaignsSection(
  run: CampaignRun | null,
  problems: readonly Problem[],
  { commandLine, now }: PageContext,
): Markup {
  if (run === null) {
    return html`<section><h2>Campaigns</h2><p class="dim">The daemon has not looked at campaigns. It keeps their targeting up to date if there is a campaigns file.</p></section>`
  }
  const { at, entries, findings, mode, problem, state } = run
  const waiting = campaignsInTrouble(problems)
  const found = [
    ...[...Map.groupBy(entries, (entry) => entry.state)].map(
      ([of, all]) => `${count(all.length)} ${of}`,
    ),
    ...(waiting === 0 ? [] : [`${count(waiting)} ${waiting === 1 ? 'needs' : 'need'} attention`]),
  ].join(', ')
  const tone: Tone = state === 'done' && waiting === 0 ? 'good' : 'warn'
  const does = mode === 'targeting' ? 'the daemon keeps their targeting' : 'the daemon only reports'
  const rows = entries.slice(0, MOST).map((entry) => entryRow(entry, { commandLine, now }))
  const findingRows = findings.slice(0, MOST).map((finding) => findingRow(finding, commandLine))
  const more = Math.max(0, entries.length - MOST) + Math.max(0, findings.length - MOST)
  return html`<section><h2>Campaigns</h2><p><span class="state ${tone}">${state === 'done' ? found || 'none in the file' : state}</span><span class="dim">, looked at ${ago(at, now)}, ${does}</span></p>
${problem === null ? null : html`<p class="next">${sentence(problem)}</p>`}
${rows.length === 0 ? null : table({ name: 'managed', label: 'Campaigns', columns: ENTRY_COLUMNS, rows: [...rows, ...totalRow(entries)] })}
${findingRows.length === 0 ? null : table({ name: 'managed', label: 'Findings', columns: FINDING_COLUMNS, rows: findingRows })}
${more === 0 ? null : html`<p class="dim">${count(more)} more: <code>${commandLine(commandFor('campaigns status'))}</code></p>`}</section>`
}

function entryRow(entry: CampaignSeen, { commandLine, now }: Asked): Markup {
  const { key, name, state, status, coverage, changes, reason, next } = entry
  const tone: Tone = state === 'in line' ? 'good' : state === 'pending' ? 'dim' : 'warn'
  const differs = [...(reason === null ? [] : [sentence(reason)]), ...changes]
  const list = html`<ul class="reason">${differs.map((line) => html`<li>${line}</li>`)}</ul>`
  return html`<tr data-key="managed ${key}"><th scope="row" class="name"><bdi>${name ?? key}</bdi>${name === null ? null : html` <small class="dim"><bdi>${key}</bdi></small>`}</th>
${numberCells(coverage)}
<td>${coverage === null ? NONE : html`${budgetText(coverage) ?? 'no known budget'}<br><small class="dim">${periodText(coverage, status, now)}</small>${pace(coverage, now)}`}</td>
<td><span class="state ${tone}">${state}</span>${differs.length === 0 ? null : list}${nextStep(next, commandLine)}</td></tr>`
}

function numberCells(numbers: CampaignNumbers | null): Markup {
  const { covered = null, spent = null, left = null } = numbers ?? {}
  const ours = numbers === null ? null : countText(numbers)
  return html`<td class="n" data-label="covered">${count(covered)}${ours === null ? null : html` <small class="dim" title="by our own count of the targeting">(${ours})</small>`}</td>
<td class="n" data-label="spent">${spent === null ? NONE : groupedMoney(spent)}</td><td class="n" data-label="left">${left === null ? NONE : groupedMoney(left)}</td>`
}

function totalRow(entries: readonly CampaignSeen[]): Markup[] {
  const totals = totalsOf(entries.map(({ coverage }) => coverage))
  if (entries.length < 2 || totals.covered === null) return []
  return [
    html`<tr data-key="managed total" class="total"><th scope="row" class="name">All ${count(entries.length)}</th>${numberCells(totals)}<td>${totals.budget === null ? NONE : groupedMoney(totals.budget)}</td><td></td></tr>`,
  ]
}

/** pace draws the spent part of the budget, with a line at the passed part of the period. */
function pace(coverage: Coverage, now: number): Markup | null {
  const { spentShare } = coverage
  if (spentShare === null) return null
  const passed = passedShare(coverage, now)
  const percent = (share: number) => `${Math.round(share * 100)} %`
  const label = `${percent(spentShare)} of the budget is spent${passed === null ? '' : `, and ${percent(passed)} of the period has passed`}`
  return paceBar({ spent: spentShare, passed, label })
}

function findingRow(finding: CampaignFinding, commandLine: CommandLine): Markup {
  const { campaignId, code, key, next, text } = finding
  return html`<tr data-key="finding ${code} ${key} ${campaignId}"><th scope="row" class="name"><bdi>${key ?? campaignId ?? NONE}</bdi></th>
<td><p class="reason">${sentence(text)}</p></td><td>${nextStep(next, commandLine)}</td></tr>`
}

/** nextStep shows the edit or the command that resolves an entry or a finding; null if nothing has to be done. */
function nextStep(step: string | null, commandLine: CommandLine): Markup | null {
  return step === null ? null : steps(stepsOfHint(step, commandLine))
}
