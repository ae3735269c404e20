// The campaigns on the status page: what waits for a person, and what the last look found, with its plan.

import { openPoints, stopPoint, waitsForPerson } from '../campaign-conditions.ts'
import type { CampaignRun, CampaignSeen, EndpointSource, PlanModel } from '../port.ts'
import { html, type Markup } from './html.ts'
import { ago, choice, count, NONE, type Scene, sentence, type Tone, table } from './page-parts.ts'

/** Changes that a person can take in. */
const MOST = 50

/** Entries of the list of what needs a person. */
export function campaignCards(run: CampaignRun | null): Markup[] {
  if (run === null) return []
  const all = [...(waitsForPerson(run.state) ? stopPoint(run) : []), ...openPoints(run)]
  return all.slice(0, MOST).map(({ event, campaign, state, reason, hint }) => {
    const word = event === 'campaigns-stopped' ? state : `campaign ${state}`
    return html`<li class="card warn" data-key="campaign ${campaign} ${word}"><div class="top"><h3 class="name"><bdi>${campaign ?? 'Campaigns'}</bdi></h3><span class="state warn">${word}</span></div>
<p class="reason">${sentence(reason)}</p>${needed(hint)}</li>`
  })
}

export function campaignsSection(run: CampaignRun | null, source: EndpointSource & Scene): Markup {
  if (run === null) {
    return html`<section><h2>Campaigns</h2><p class="dim">Off, or not checked yet. The daemon manages campaigns when there is a campaigns file.</p></section>`
  }
  const { at, done, mode, pending, planId, problem, state } = run
  const { commandLine, now } = source
  const tone: Tone = state === 'done' ? 'good' : waitsForPerson(state) ? 'warn' : 'dim'
  const said = state === 'done' && pending === 0 ? 'in line with the file' : state
  const word = state === 'done' && pending > 0 ? `${pending} to change` : said
  const apply = planId === null ? 'campaigns plan' : `campaigns apply ${planId}`
  return html`<section><h2>Campaigns</h2><p><span class="state ${pending > 0 && state === 'done' ? 'warn' : tone}">${word}</span><span class="dim">, looked at ${ago(at, now)}, ${mode === 'apply' ? 'changes are applied by the daemon' : 'changes are only reported'}</span></p>
${problem === null || waitsForPerson(state) ? null : html`<p class="next">${sentence(problem)}</p>`}
${done.length === 0 ? null : html`<p class="next">Done: ${done.slice(0, MOST).join(', ')}</p>`}
${managed(run, source)}
${pending === 0 || planId === null ? null : planned(source.plan(planId))}
${pending === 0 ? null : choice([commandLine(apply)])}</section>`
}

const NOT_THERE = { campaignId: null, name: null, status: 'not created', budget: null, spend: null }

/** Every campaign with its state on the service, and what it waits for. */
function managed({ waiting }: CampaignRun, source: EndpointSource): Markup | null {
  const known = source.campaigns()
  const missing = waiting.filter(({ key }) => known.every((one) => one.key !== key))
  const all = [...known, ...missing.map(({ key }): CampaignSeen => ({ key, ...NOT_THERE }))]
  if (all.length === 0) return null
  const rows = all.slice(0, MOST).map(({ key, name, status, budget, spend }) => {
    const decision = waiting.find((one) => one.key === key)
    const tone: Tone = decision === undefined ? 'dim' : 'warn'
    return html`<tr data-key="managed ${key}"><th scope="row" class="name"><bdi>${name ?? key}</bdi>${name === null ? null : html` <small class="dim"><bdi>${key}</bdi></small>`}</th><td><span class="state ${tone}">${status ?? 'not seen'}</span></td><td class="n" data-label="spent">${spend ?? NONE}${budget === null ? null : html` <span class="dim">of ${budget}</span>`}</td><td>${decision === undefined ? null : html`<p class="reason">${sentence(decision.reason ?? decision.action)}</p>${needed(decision.needs)}`}</td></tr>`
  })
  const more = all.length - MOST
  const columns = ['Campaign', 'State', '#Spent', 'Waits for']
  return html`${table('managed', 'Campaigns', columns, rows)}${more > 0 ? html`<p class="dim">${count(more)} more: <code>${source.commandLine('campaigns status')}</code></p>` : null}`
}

/** The command or edit that moves it on. */
function needed(needs: string | null): Markup | null {
  if (needs === null) return null
  return needs.startsWith('feedsyncd ')
    ? choice([needs])
    : html`<p class="next">${sentence(needs)}</p>`
}

/** What of a plan is written; null: it is not kept any more, or nothing of it is. */
function planned(plan: PlanModel | null): Markup | null {
  const written = (plan?.items ?? []).filter(
    ({ action, held }) => WRITTEN.includes(action) && !held,
  )
  if (written.length === 0) return null
  const rows = written.slice(0, MOST).map(({ key, action, spend, changes }) => {
    const shown = changes.map(
      ({ path, before, after }) =>
        html`<li>${path}: ${action === 'create' ? null : html`<span class="dim">${before ?? 'not known'} →</span> `}${after ?? 'any'}</li>`,
    )
    return html`<tr data-key="plan ${key}"><th scope="row" class="name"><bdi>${key}</bdi></th><td>${spend === 'down' ? 'reduce' : action}</td><td><ul class="reason">${shown}</ul></td></tr>`
  })
  const more = written.length - MOST
  const columns = ['Campaign', 'Action', 'Changes']
  return html`<details data-key="plan"><summary>The plan <span class="dim">${count(written.length)}</span></summary>${table('plan', 'The plan', columns, rows)}${more > 0 ? html`<p class="dim">${count(more)} more</p>` : null}</details>`
}

const WRITTEN = ['create', 'update', 'adopt']
