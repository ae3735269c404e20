// The campaigns on the status page: those that need a person, and each entry of the file in the last run.

import type { CampaignFinding, CampaignRun, CampaignSeen } from '../../campaigns/port.ts'
import { stepsOfHint } from '../advice.ts'
import { campaignsInTrouble } from '../campaign-problems.ts'
import type { CommandLine } from '../port.ts'
import type { Problem } from '../problem.ts'
import { html, type Markup } from './html.ts'
import { ago, count, NONE, type PageContext, sentence, type Tone, table } from './page-parts.ts'
import { steps } from './problem-cards.ts'

/** Rows of each list: the problems of campaigns stand above. */
const MOST = 5

export function campaignsSection(
  run: CampaignRun | null,
  problems: readonly Problem[],
  { commandLine, now }: PageContext,
): Markup {
  if (run === null) {
    return html`<section><h2>Campaigns</h2><p class="dim">Off, or not checked yet. The daemon keeps the targeting of campaigns when there is a campaigns file.</p></section>`
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
  const rows = entries.slice(0, MOST).map((entry) => entryRow(entry, commandLine))
  const notes = findings.slice(0, MOST).map((finding) => findingRow(finding, commandLine))
  const more = Math.max(0, entries.length - MOST) + Math.max(0, findings.length - MOST)
  return html`<section><h2>Campaigns</h2><p><span class="state ${tone}">${state === 'done' ? found || 'none in the file' : state}</span><span class="dim">, looked at ${ago(at, now)}, ${does}</span></p>
${problem === null ? null : html`<p class="next">${sentence(problem)}</p>`}
${rows.length === 0 ? null : table('managed', 'Campaigns', ['Campaign', 'State', '#Spent', 'Differs', 'Next step'], rows)}
${notes.length === 0 ? null : table('managed', 'Findings', ['Campaign', 'Finding', 'Next step'], notes)}
${more === 0 ? null : html`<p class="dim">${count(more)} more: <code>${commandLine('campaigns status')}</code></p>`}</section>`
}

function entryRow(entry: CampaignSeen, commandLine: CommandLine): Markup {
  const { key, name, state, status, budget, spend, changes, reason, next } = entry
  const tone: Tone = state === 'in line' ? 'good' : state === 'pending' ? 'dim' : 'warn'
  const differs = [...(reason === null ? [] : [sentence(reason)]), ...changes]
  return html`<tr data-key="managed ${key}"><th scope="row" class="name"><bdi>${name ?? key}</bdi>${name === null ? null : html` <small class="dim"><bdi>${key}</bdi></small>`}</th>
<td><span class="state ${tone}">${state}</span>${status === null ? null : html` <small class="dim">${status}</small>`}</td>
<td class="n" data-label="spent">${spend ?? NONE}${budget === null ? null : html` <span class="dim">of ${budget}</span>`}</td>
<td>${differs.length === 0 ? null : html`<ul class="reason">${differs.map((line) => html`<li>${line}</li>`)}</ul>`}</td><td>${nextStep(next, commandLine)}</td></tr>`
}

function findingRow(finding: CampaignFinding, commandLine: CommandLine): Markup {
  const { campaignId, code, key, next, text } = finding
  return html`<tr data-key="finding ${code} ${key} ${campaignId}"><th scope="row" class="name"><bdi>${key ?? campaignId ?? NONE}</bdi></th>
<td><p class="reason">${sentence(text)}</p></td><td>${nextStep(next, commandLine)}</td></tr>`
}

/** Shows the edit or the command that resolves an entry. */
function nextStep(step: string | null, commandLine: CommandLine): Markup | null {
  return step === null ? null : steps(stepsOfHint(step, commandLine))
}
