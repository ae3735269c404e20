// The campaigns on the status page: what waits for a person, and what the last look found, with its plan.

import { VANISHED_HINT, vanishedReason, waitsForPerson } from '../campaign-conditions.ts'
import type { CampaignRun, PlanModel } from '../port.ts'
import { html, type Markup } from './html.ts'
import { ago, choice, count, type Scene, sentence, type Tone } from './page-parts.ts'

/** Changes that a person can take in. */
const MOST = 50

/** Entries of the list of what needs a person. */
export function campaignCards(run: CampaignRun | null): Markup[] {
  if (run === null) return []
  const { hint, problem, state, waiting, vanished = [], findings = [] } = run
  const stopped = waitsForPerson(state)
    ? [card('', 'Campaigns', state, problem ?? 'nothing is written', hint)]
    : []
  return [
    ...stopped,
    ...waiting
      .slice(0, MOST)
      .map((one) => card(one.key, one.key, one.action, one.reason, one.needs)),
    ...findings
      .slice(0, MOST)
      .map((one) =>
        card(`${one.key} ${one.code}`, one.key ?? 'Campaigns', one.code, one.reason, one.needs),
      ),
    ...vanished
      .slice(0, MOST)
      .map((one) =>
        card(`${one.key} vanished`, one.key, 'vanished', vanishedReason(one), VANISHED_HINT),
      ),
  ]
}

function card(
  key: string,
  name: string,
  state: string,
  reason: string | null,
  needs: string | null,
): Markup {
  const isCommand = needs?.startsWith('feedsyncd ') ?? false
  return html`<li class="card warn" data-key="campaign ${key}"><div class="top"><h3 class="name"><bdi>${name}</bdi></h3><span class="state warn">${key === '' ? state : `campaign ${state}`}</span></div>
${reason === null ? null : html`<p class="reason">${sentence(reason)}</p>`}${needs === null ? null : isCommand ? choice([needs]) : html`<p class="next">${sentence(needs)}</p>`}</li>`
}

/** `plan`: the one that the look made; null where it is not kept any more, or nothing is to be done. */
export function campaignsSection(
  run: CampaignRun | null,
  plan: PlanModel | null,
  { commandLine, now }: Scene,
): Markup {
  if (run === null) {
    return html`<section><h2>Campaigns</h2><p class="dim">Off, or not looked at yet: the daemon looks after them once there is a campaigns file.</p></section>`
  }
  const { at, done, mode, pending, planId, problem, state } = run
  const tone: Tone = state === 'done' ? 'good' : waitsForPerson(state) ? 'warn' : 'dim'
  const said = state === 'done' && pending === 0 ? 'in line with the file' : state
  const word = state === 'done' && pending > 0 ? `${pending} to change` : said
  const apply = planId === null ? 'campaigns plan' : `campaigns apply ${planId}`
  return html`<section><h2>Campaigns</h2><p><span class="state ${pending > 0 && state === 'done' ? 'warn' : tone}">${word}</span><span class="dim">, looked at ${ago(at, now)}, ${mode === 'apply' ? 'changes are applied by the daemon' : 'changes are only reported'}</span></p>
${problem === null || waitsForPerson(state) ? null : html`<p class="next">${sentence(problem)}</p>`}
${done.length === 0 ? null : html`<p class="next">Done: ${done.slice(0, MOST).join(', ')}</p>`}
${pending === 0 || plan === null ? null : planned(plan)}
${pending === 0 ? null : choice([commandLine(apply)])}</section>`
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
