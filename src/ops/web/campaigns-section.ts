// The campaigns on the status page: what waits for a person, and what the last look found, with its plan.

import { openPoints, waitsForPerson } from '../campaign-conditions.ts'
import type { CampaignRun, CampaignSeen, CommandLine, PlanModel } from '../port.ts'
import { html, type Markup } from './html.ts'
import { ago, choice, count, type Scene, sentence, type Tone } from './page-parts.ts'

/** Changes that a person can take in. */
const MOST = 50

/** Entries of the list of what needs a person. */
export function campaignCards(run: CampaignRun | null): Markup[] {
  if (run === null) return []
  const { hint, problem, state } = run
  const stopped = waitsForPerson(state)
    ? [card('', 'Campaigns', state, problem ?? 'nothing is written', hint)]
    : []
  return [
    ...stopped,
    ...openPoints(run)
      .slice(0, MOST)
      .map(({ key, state, reason, needs }) =>
        card(`${key} ${state}`, key ?? 'Campaigns', state, reason, needs),
      ),
  ]
}

function card(
  key: string,
  name: string,
  state: string,
  reason: string,
  needs: string | null,
): Markup {
  return html`<li class="card warn" data-key="campaign ${key}"><div class="top"><h3 class="name"><bdi>${name}</bdi></h3><span class="state warn">${key === '' ? state : `campaign ${state}`}</span></div>
<p class="reason">${sentence(reason)}</p>${needs === null ? null : needed(needs)}</li>`
}

/** `plan`: the one that the look made; null where it is not kept any more, or nothing is to be done. */
export function campaignsSection(
  run: CampaignRun | null,
  facts: Scene & { plan: PlanModel | null; campaigns: readonly CampaignSeen[] },
): Markup {
  const { campaigns, commandLine, now, plan } = facts
  if (run === null) {
    return html`<section><h2>Campaigns</h2><p class="dim">Off, or not checked yet. The daemon manages campaigns when there is a campaigns file.</p></section>`
  }
  const { at, done, mode, pending, planId, problem, state } = run
  const tone: Tone = state === 'done' ? 'good' : waitsForPerson(state) ? 'warn' : 'dim'
  const said = state === 'done' && pending === 0 ? 'in line with the file' : state
  const word = state === 'done' && pending > 0 ? `${pending} to change` : said
  const apply = planId === null ? 'campaigns plan' : `campaigns apply ${planId}`
  return html`<section><h2>Campaigns</h2><p><span class="state ${pending > 0 && state === 'done' ? 'warn' : tone}">${word}</span><span class="dim">, looked at ${ago(at, now)}, ${mode === 'apply' ? 'changes are applied by the daemon' : 'changes are only reported'}</span></p>
${problem === null || waitsForPerson(state) ? null : html`<p class="next">${sentence(problem)}</p>`}
${done.length === 0 ? null : html`<p class="next">Done: ${done.slice(0, MOST).join(', ')}</p>`}
${managed(campaigns, run, commandLine)}
${pending === 0 || plan === null ? null : planned(plan)}
${pending === 0 ? null : choice([commandLine(apply)])}</section>`
}

/** Every campaign with its state on the service, and what it waits for. */
function managed(
  campaigns: readonly CampaignSeen[],
  { waiting }: CampaignRun,
  commandLine: CommandLine,
): Markup | null {
  const known = new Set(campaigns.map(({ key }) => key))
  const missing = waiting
    .filter(({ key }) => !known.has(key))
    .map(({ key }) => ({ ...{ key, campaignId: null, name: null }, ...NOT_THERE }))
  const all = [...campaigns, ...missing]
  if (all.length === 0) return null
  const rows = all.slice(0, MOST).map(({ key, name, status, budget, spend }) => {
    const decision = waiting.find((one) => one.key === key)
    const state = decision === undefined ? 'dim' : 'warn'
    return html`<tr data-key="managed ${key}"><th scope="row" class="name"><bdi>${name ?? key}</bdi>${name === null ? null : html` <small class="dim"><bdi>${key}</bdi></small>`}</th><td><span class="state ${state}">${status ?? 'not seen'}</span></td><td class="n" data-label="spent">${spend ?? DASH}${budget === null ? null : html` <span class="dim">of ${budget}</span>`}</td><td>${decision === undefined ? null : html`<p class="reason">${sentence(decision.reason ?? decision.action)}</p>${decision.needs === null ? null : needed(decision.needs)}`}</td></tr>`
  })
  const more = all.length - MOST
  return html`<table class="managed" aria-label="Campaigns"><thead><tr><th scope="col">Campaign</th><th scope="col">State</th><th scope="col" class="n">Spent</th><th scope="col">Waits for</th></tr></thead><tbody>${rows}</tbody></table>${more > 0 ? html`<p class="dim">${count(more)} more: <code>${commandLine('campaigns status')}</code></p>` : null}`
}

const NOT_THERE = { status: 'not created', budget: null, spend: null }
const DASH = html`<span class="none dim">–</span>`

/** The command or edit that moves it on. */
function needed(needs: string): Markup | null {
  return needs.startsWith('feedsyncd ')
    ? choice([needs])
    : html`<p class="next">${sentence(needs)}</p>`
}

function planned({ items }: PlanModel): Markup | null {
  const written = items.filter(({ action, held }) => ACTIONS[action] !== undefined && !held)
  if (written.length === 0) return null
  const rows = written.slice(0, MOST).map(({ key, action, spend, changes }) => {
    const shown = changes.map(
      ({ path, before, after }) =>
        html`<li>${path}: ${action === 'create' ? null : html`<span class="dim">${before ?? 'not known'} →</span> `}${after ?? 'any'}</li>`,
    )
    return html`<tr data-key="plan ${key}"><th scope="row" class="name"><bdi>${key}</bdi></th><td>${spend === 'down' ? 'reduce' : (ACTIONS[action] ?? action)}</td><td><ul class="reason">${shown}</ul></td></tr>`
  })
  const more = written.length - MOST
  return html`<details data-key="plan"><summary>The plan <span class="dim">${count(written.length)}</span></summary><table class="plan" aria-label="The plan"><thead><tr><th scope="col">Campaign</th><th scope="col">Action</th><th scope="col">Changes</th></tr></thead><tbody>${rows}</tbody></table>${more > 0 ? html`<p class="dim">${count(more)} more</p>` : null}</details>`
}

/** What of a plan is written. */
const ACTIONS: Readonly<Record<string, string>> = {
  create: 'create',
  update: 'update',
  adopt: 'adopt',
}
