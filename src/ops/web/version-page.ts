// One version: what it holds, what happened to it, and each attempt to deliver it.

import type { ShowReport } from '../../history/port.ts'
import { formatDuration } from '../../lib/units.ts'
import { html, type Markup } from './html.ts'
import type { Scene, Tone } from './page-parts.ts'
import {
  ago,
  count,
  document,
  feedLink,
  sentence,
  size,
  stateOf,
  story,
  toneOf,
  utc,
} from './page-parts.ts'

type Attempt = ShowReport['attempts'][number]
type Happening = ShowReport['events'][number]

/** Campaigns that a person can take in. */
const MOST_CAMPAIGNS = 50
const TONES: Record<NonNullable<Attempt['outcome']>, Tone> = {
  stored: 'good',
  refused: 'bad',
  failed: 'bad',
  unknown: 'warn',
}

export function versionPage(version: ShowReport, scene: Scene): string {
  const { id, feed, attempts, events } = version
  const main = html`<main>
<p class="crumb name"><a href="/">All feeds</a> / ${feedLink(feed)}</p>
<h1>Version ${id}</h1>
<div class="card ${toneOf(version)}"><div class="top">${stateOf(version)}<span class="dim when">detected ${ago(version.detectedAt, scene.now)}</span></div>${story(version, scene)}${warnings(version)}</div>
<section><h2>What it holds</h2><dl class="facts">${facts(version).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl></section>
<section><h2>What happened</h2>${earlier(version.earlierEvents, id, scene)}<ol class="events">${events.map((event, n) => happened(event, events[n - 1]))}</ol></section>
${attempts.length === 0 ? null : attemptTable(version, scene)}
</main>`
  return document(`${feed}, version ${id}`, toneOf(version), main, scene)
}

function warnings({ warnings }: ShowReport): Markup | null {
  if (warnings.length === 0) return null
  return html`<ul class="warnings">${warnings.map((text) => html`<li>${text}</li>`)}</ul>`
}

function facts(version: ShowReport): [string, Markup | string | number][] {
  const { changes, externalCampaignIds: ids } = version
  const changed =
    changes && `${changes.added} added, ${changes.removed} removed, ${changes.changed} changed`
  const etag =
    version.etagVerified === null ? null : version.etagVerified ? 'verified' : 'not verifiable'
  const all: [string, Markup | string | number | null][] = [
    ['Postings', version.postings === null ? null : count(version.postings)],
    ['Changes', changed],
    ['Size', version.bytes === null ? null : size(version.bytes)],
    ['Path', html`<bdi>${version.path}</bdi>`],
    ['Account', version.account],
    ['Records', version.records ?? version.root],
    ['Encoding', version.encoding],
    ['Campaign ids', ids === null ? null : campaigns(ids)],
    ['Requisitions', version.requisitionIds],
    ['SHA-256', version.sha256 === null ? null : html`<code>${version.sha256}</code>`],
    ['Stored as', version.fileUrl === null ? null : html`<code>${version.fileUrl}</code>`],
    ['Checksum of storage', etag],
  ]
  return all.filter((fact): fact is [string, Markup | string | number] => fact[1] !== null)
}

function campaigns(ids: Readonly<Record<string, number>>): Markup | null {
  const all = Object.entries(ids)
  if (all.length === 0) return null
  const more = all.length - MOST_CAMPAIGNS
  return html`<ul class="chips">${all
    .slice(0, MOST_CAMPAIGNS)
    .map(
      ([id, postings]) =>
        html`<li><bdi>${id}</bdi> <span class="dim">${count(postings)}</span></li>`,
    )}${more > 0 ? html`<li class="dim">${more} more</li>` : null}</ul>`
}

/** What would make the page longer than anybody reads. */
function earlier(left: number, id: number, { commandLine }: Scene): Markup | null {
  if (left === 0) return null
  return html`<p class="dim">${count(left)} earlier: <code>${commandLine(`show ${id} --all`)}</code></p>`
}

function happened(
  { at, count: times, firstAt, to, reason }: Happening,
  before: Happening | undefined,
): Markup {
  const took = at && before?.at ? Date.parse(at) - Date.parse(before.at) : null
  const tone = to === 'seen' ? 'dim' : toneOf({ state: to as ShowReport['state'], overdue: false })
  return html`<li><span class="state ${tone}">${to}</span><time class="dim" datetime="${at}">${at === null ? '–' : utc(Date.parse(at))}</time><span class="dim n">${took === null ? null : `after ${formatDuration(took)}`}</span>${reason === null ? null : html`<p class="reason">${sentence(reason)}</p>`}${firstAt ? html`<p class="dim">${count(times ?? 1)} times since ${utc(Date.parse(firstAt))}</p>` : null}</li>`
}

function attemptTable({ attempts, earlierAttempts, id }: ShowReport, scene: Scene): Markup {
  const rows = attempts.map(({ n, startedAt, endedAt, outcome, status, code, bytesSent }) => {
    const ms = startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : null
    const answer = [status, code].filter((part) => part !== null).join(' ')
    return html`<tr><th scope="row">${n}</th><td><span class="state ${outcome === null ? 'dim' : TONES[outcome]}">${outcome ?? 'running'}</span></td><td class="code">${answer}</td>
<td class="n">${size(bytesSent)}</td><td class="n">${ms === null ? null : formatDuration(ms)}</td><td class="n when">${startedAt === null ? null : utc(Date.parse(startedAt))}</td></tr>`
  })
  return html`<section><h2>Attempts <span class="dim">${count(attempts.length + earlierAttempts)}</span></h2>${earlier(earlierAttempts, id, scene)}<table class="attempts" aria-label="Attempts"><thead><tr><th scope="col">Attempt</th><th scope="col">Outcome</th><th scope="col">Answer</th><th scope="col" class="n">Sent</th><th scope="col" class="n">Took</th><th scope="col" class="n">Started</th></tr></thead><tbody>${rows}</tbody></table></section>`
}
