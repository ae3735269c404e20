// The status page: what is owed first, then what is on its way, then every feed. Made on the server, of
// the same facts as `status`; it offers no way to change anything, only the commands that do.

import { formatBytes, formatDuration } from '../lib/units.ts'
import { advice, STATES_IN_WORK } from './advice.ts'
import { html, Markup } from './html.ts'
import { SCRIPT, STYLE } from './page-style.ts'
import type { Pulse, StatusModel, UploadModel } from './port.ts'

export interface PageFacts {
  status: StatusModel
  pulse: Pulse
  /** Wall ms. */
  now: number
}

/** Rows that a person can take in and a phone can hold. */
const MOST = 200

export function statusPage({ status, pulse, now }: PageFacts): string {
  const all = [...status.uploads, ...status.owed]
  const owed = all.filter(needsPerson)
  const moving = all.filter((upload) => STATES_IN_WORK.includes(upload.state))
  const trouble = troubleOf(status, pulse)
  const title =
    owed.length + trouble.length === 0 ? 'feedsyncd' : `(${owed.length + trouble.length}) feedsyncd`
  const body = html`<main>
<h1>${headline(owed.length, trouble.length)}</h1>
<p class="dim">${facts(status, now)}</p>
${trouble.length + owed.length === 0 ? null : html`<h2>Needs a person</h2>`}
<ul>${trouble.map((text) => html`<li class="bad"><p class="plain">${text}</p></li>`)}
${listed(owed, (upload) => item(upload, now))}</ul>
${status.daemon.unfinished.map(
  ({ path, modifiedAt }) =>
    html`<p class="warn">unfinished: ${path}, last written ${ago(modifiedAt, now)}</p>`,
)}
${moving.length === 0 ? null : html`<h2>On its way</h2><ul>${listed(moving, (upload) => item(upload, now))}</ul>`}
<h2>Feeds</h2>
${status.uploads.length === 0 ? html`<p>No feed has been seen yet.</p>` : feedTable(status.uploads, now)}
</main>`
  return document(title, body)
}

/** One feed: its versions, and how they grew or shrank. */
export function feedPage(feed: string, versions: readonly UploadModel[], now: number): string {
  const oldestFirst = versions.toReversed()
  const body = html`<main>
<p><a href="/">all feeds</a></p>
<h1>${feed}</h1>
<h2>Postings</h2>${plot(oldestFirst.map(({ postings }) => postings))}
<h2>Size</h2>${plot(oldestFirst.map(({ bytes }) => bytes))}
<h2>Versions</h2>
<table><thead><tr><th>version</th><th>state</th><th class="n">postings</th><th class="n">size</th>
<th class="n">attempts</th><th>detected</th><th>reason</th></tr></thead><tbody>${versions.map(
    (version) => html`<tr><td>${version.id}</td><td>${stateOf(version)}</td>
<td class="n">${version.postings}</td><td class="n">${size(version)}</td><td class="n">${version.attempts}</td>
<td>${ago(version.detectedAt, now)}</td><td>${version.reason}</td></tr>`,
  )}</tbody></table>
</main>`
  return document(`${feed} - feedsyncd`, body)
}

function document(title: string, body: Markup): string {
  return String(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${new Markup(STYLE)}</style>
<noscript><meta http-equiv="refresh" content="10"></noscript></head>
<body><p id="stale" class="bad" role="status" hidden>The daemon does not answer: this is how it was.</p>
${body}
<script>${new Markup(SCRIPT)}</script></body></html>
`)
}

function needsPerson({ state, overdue }: UploadModel): boolean {
  return state === 'rejected' || state === 'held' || state === 'failed' || overdue
}

function troubleOf({ daemon, service }: StatusModel, { trouble }: Pulse): string[] {
  const found = [trouble, daemon.folderReason].filter((text) => text !== null)
  if (service.state === 'ok' || service.state === 'unknown') return found
  return [...found, `service ${service.state}: ${service.reason ?? 'no reason given'}`]
}

function headline(owed: number, trouble: number): Markup {
  if (trouble > 0) return html`<span class="bad">feedsyncd is hindered</span>`
  if (owed === 0) return html`<span class="good">Nothing needs a person</span>`
  return html`<span class="warn">${owed} ${owed === 1 ? 'feed needs' : 'feeds need'} a person</span>`
}

function facts({ daemon, service }: StatusModel, now: number): string {
  const listed = daemon.lastScanAt === null ? 'not yet' : ago(daemon.lastScanAt, now)
  return [
    `running since ${ago(daemon.startedAt, now)} (pid ${daemon.pid})`,
    `folder listed ${listed} (${daemon.mode})`,
    `service ${service.state}: ${service.baseUrl}`,
  ].join(' · ')
}

function item(upload: UploadModel, now: number): Markup {
  const { feed, id, reason, state, overdue, expectedBy } = upload
  const next = advice(upload)
  return html`<li class="${toneOf(upload)}"><b>${link(feed)}</b> <span>${stateOf(upload)}</span> <span class="dim">version ${id}, ${ago(upload.detectedAt, now)}</span>
${reason === null ? null : html`<p class="plain">${reason}</p>`}
${overdue ? html`<p class="plain">Its next version was expected ${ago(expectedBy, now)}: see whether its export still runs.</p>` : null}
${state === 'queued' && upload.nextAttemptAt !== null ? html`<p class="plain">Tried again ${ago(upload.nextAttemptAt, now)}.</p>` : null}
${next === null ? null : html`<p class="plain">Next: ${next}</p>`}</li>`
}

function feedTable(uploads: readonly UploadModel[], now: number): Markup {
  return html`<table><thead><tr><th>feed</th><th>state</th><th class="n">postings</th><th class="n">size</th>
<th class="n">attempts</th><th>when</th></tr></thead><tbody>${listed(
    uploads,
    (upload) => html`<tr><td>${link(upload.feed)}</td>
<td>${stateOf(upload)}</td><td class="n">${upload.postings}</td><td class="n">${size(upload)}</td>
<td class="n">${upload.attempts}</td><td>${ago(upload.uploadedAt ?? upload.detectedAt, now)}</td></tr>`,
    (more) => html`<tr><td colspan="6" class="dim">${more} more: feedsyncd status --json</td></tr>`,
  )}</tbody></table>`
}

function listed(
  uploads: readonly UploadModel[],
  show: (upload: UploadModel) => Markup,
  rest = (more: number) => html`<li class="dim"><p>${more} more: feedsyncd status --json</p></li>`,
): Markup[] {
  const shown = uploads.slice(0, MOST).map(show)
  return uploads.length > MOST ? [...shown, rest(uploads.length - MOST)] : shown
}

function link(feed: string): Markup {
  // A lone surrogate has no UTF-8, so there is nothing to link to.
  const name = feed.isWellFormed() ? encodeURIComponent(feed) : null
  return name === null ? html`${feed}` : html`<a href="/feed?name=${name}">${feed}</a>`
}

function stateOf(upload: UploadModel): Markup {
  const text = upload.overdue ? `${upload.state}, overdue` : upload.state
  return html`<span class="${toneOf(upload)}">${text}</span>`
}

function toneOf({ state, overdue }: UploadModel): string {
  if (state === 'rejected' || state === 'failed') return 'bad'
  if (state === 'held' || state === 'incomplete' || overdue) return 'warn'
  return state === 'uploaded' ? 'good' : 'dim'
}

/** Bars from nothing to the largest value; what is not known is left out. */
function plot(values: readonly (number | null)[]): Markup {
  const most = Math.max(...values.map((value) => value ?? 0), 1)
  const width = 100 / Math.max(values.length, 20)
  const bars = values.map((value, n) => {
    const height = ((value ?? 0) / most) * 38
    return value === null
      ? null
      : html`<rect x="${(n * width).toFixed(2)}" y="${(40 - height).toFixed(2)}" width="${(width * 0.8).toFixed(2)}" height="${height.toFixed(2)}" fill="currentColor"><title>${value}</title></rect>`
  })
  return html`<svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img">${bars}</svg>`
}

const size = ({ bytes }: UploadModel) => (bytes === null ? null : formatBytes(bytes))

function ago(iso: string | null, now: number): string {
  if (iso === null) return '-'
  const ms = Date.parse(iso) - now
  return ms > 0 ? `in ${formatDuration(ms)}` : `${formatDuration(-ms)} ago`
}
