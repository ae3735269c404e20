// The status page: first what needs a person, then what is on its way, then every feed. The server renders it from the
// report of `status`. The page changes nothing; it shows the commands that do.

import { IN_WORK } from '../../history/states.ts'
import { isoTime } from '../../lib/clock.ts'
import { conditionText } from '../../lib/conditions.ts'
import { formatDuration } from '../../lib/units.ts'
import { needsPerson, pauseLines } from '../advice.ts'
import { waitingCampaigns } from '../campaign-conditions.ts'
import type { Pulse } from '../port.ts'
import type { StatusReport, UploadReport } from '../report.ts'
import { campaignCards, campaignsSection } from './campaigns-section.ts'
import { html, type Markup } from './html.ts'
import {
  ago,
  changes,
  choice,
  count,
  document,
  feedLink,
  type PageContext,
  sentence,
  size,
  stateOf,
  story,
  type Tone,
  table,
  toneOf,
  versionLink,
} from './page-parts.ts'
import { sparkline } from './plots.ts'
import type { EndpointSource } from './source.ts'

/** Rows of each list: as many as a person can read and a phone can show. */
const MOST = 100
/** Versions on their way. The list is short because they need nobody. */
const MOST_MOVING = 12
/** Points of a sparkline. */
const MOST_POINTS = 30

/** statusPage reads two parameters: `find`, a part of a feed's name in any case, and `page`, counted from 1. */
export function statusPage(source: EndpointSource & PageContext, query: URLSearchParams): string {
  const status = source.status()
  const { daemon, uploads, skipped, campaigns = null } = status
  const { ignored } = daemon
  const all = [...uploads, ...status.owed]
  const urgent = all.filter(needsPerson)
  const moving = all.filter((upload) => IN_WORK.includes(upload.state) && !needsPerson(upload))
  const troubles = troublesOf(status, source.pulse())
  const waiting = waitingCampaigns(campaigns)
  const pauses = pauseLines(status, source.now, source.commandLine)
  const tone: Tone =
    troubles.length > 0 || urgent.some((one) => toneOf(one) === 'bad')
      ? 'bad'
      : urgent.length + waiting + skipped.length + pauses.length > 0
        ? 'warn'
        : 'good'
  const owed = { feed: urgent.length, campaign: waiting, path: skipped.length }
  const isPaused = status.paused !== null
  const headline = headlineOf(troubles.length, owed, isPaused, uploads.length)
  const main = html`<main>
<h1 class="${tone}" aria-live="polite">${headline}</h1>
${vitals(status, source)}
${section(
  'Needs attention',
  troubles.length + urgent.length + waiting,
  html`<ul class="cards">${troubles.map((says) => trouble(says, source))}${listed(urgent, MOST, source)}${campaignCards(campaigns, source)}</ul>`,
)}
${section('On its way', moving.length, html`<ul class="cards">${listed(moving, MOST_MOVING, source)}</ul>`)}
${section('Paused', pauses.length, html`<ul class="cards">${pauses.slice(0, MOST).map(paused)}</ul>`)}
${section('Skipped', skipped.length, skippedPaths(skipped, source))}
${section('Left unfinished', daemon.unfinished.length, unfinished(daemon, source.now))}
${section('Ignored by name', ignored.count, passedOver(ignored, 'No pattern of inbox.include matches these files', source))}
<section><h2>Feeds${uploads.length > 0 ? html` <span class="dim">${count(uploads.length)}</span>` : null}</h2>
${uploads.length === 0 ? html`<p class="empty">No feed has been seen yet. Drop an XML file into <code>${source.inbox}</code></p>` : feeds(uploads, source, query)}</section>
${campaignsSection(campaigns, source)}
</main>`
  const number = Object.values(owed).reduce((sum, n) => sum + n, troubles.length)
  return document(number === 0 ? 'All well' : `(${number}) ${headline}`, tone, main, source)
}

/** `owed` counts what needs a person, by noun. */
function headlineOf(
  troubles: number,
  owed: Record<string, number>,
  isPaused: boolean,
  feeds: number,
): string {
  if (troubles > 0) return 'feedsyncd cannot work as it should'
  const counts = Object.entries(owed).filter(([, n]) => n > 0)
  const who = counts.map(([noun, n]) => `${n} ${noun}${n === 1 ? '' : 's'}`).join(' and ')
  const isOne = counts.length === 1 && counts[0]?.[1] === 1
  if (who !== '') return `${who} ${isOne ? 'needs' : 'need'} attention`
  if (isPaused) return 'Nothing is sent: paused'
  return feeds === 0 ? 'Waiting for the first feed' : 'Nothing needs attention'
}

function troublesOf({ service }: StatusReport, { conditions }: Pulse): string[] {
  const found = conditions.map(conditionText)
  if (['ok', 'unknown', 'credentials'].includes(service.state)) return found
  return [...found, `service ${service.state}: ${service.reason ?? 'no reason given'}`]
}

function vitals(
  { daemon, service, uploads }: StatusReport,
  source: EndpointSource & PageContext,
): Markup {
  const { history, now } = source
  const tone = { ok: 'good', degraded: 'warn', down: 'bad', credentials: 'bad', unknown: 'dim' }[
    service.state
  ]
  const state = service.state === 'unknown' ? 'not asked yet' : service.state
  const up = daemon.startedAt === null ? '–' : formatDuration(now - Date.parse(daemon.startedAt))
  const upToDate = uploads.filter((one) => one.state === 'uploaded').length
  const how = daemon.mode === 'poll' ? `polled: ${daemon.modeReason}` : 'watched by events'
  return html`<dl class="vitals">
<div><dt>Service</dt><dd><span class="state ${tone}">${state}</span></dd><dd class="dim">${service.baseUrl.replace(/^https:\/\//, '')}</dd></div>
<div><dt>Last upload</dt><dd>${ago(isoTime(history.lastSuccessAt(now)), now)}</dd><dd class="dim">${uploads.length === 0 ? 'no feed yet' : `${upToDate} of ${uploads.length} feeds up to date`}</dd></div>
<div><dt>Folder listed</dt><dd>${ago(daemon.lastScanAt, now)}</dd><dd class="dim">${how}</dd></div>
<div><dt>Running for</dt><dd>${up}</dd><dd class="dim">pid ${daemon.pid}</dd></div>
</dl>`
}

function section(name: string, entries: number, body: Markup): Markup | null {
  if (entries === 0) return null
  return html`<section><h2>${name} <span class="dim">${count(entries)}</span></h2>${body}</section>`
}

function paused({ ends, says }: ReturnType<typeof pauseLines>[number]): Markup {
  return html`<li class="card warn" data-key="pause ${says}"><p class="reason">${sentence(says)}</p>${choice([ends])}</li>`
}

function trouble(says: string, { commandLine }: PageContext): Markup {
  return html`<li class="card bad" data-key="trouble ${says}"><p class="reason">${sentence(says)}</p>${choice([commandLine('doctor')])}</li>`
}

function card(upload: UploadReport, context: PageContext): Markup {
  const { feed, id, detectedAt } = upload
  return html`<li class="card ${toneOf(upload)}" data-key="version ${id}">
<div class="top"><h3 class="name">${feedLink(feed)}</h3>${stateOf(upload)}<span class="dim when">${versionLink(id)}, ${ago(detectedAt, context.now)}</span></div>
${story(upload, context)}</li>`
}

function unfinished({ unfinished }: StatusReport['daemon'], now: number): Markup {
  return html`<ul class="cards">${unfinished.map(
    ({ path, modifiedAt }) =>
      html`<li class="card warn" data-key="path ${path}"><div class="top"><h3 class="name"><bdi>${path}</bdi></h3><span class="dim when">last written ${ago(modifiedAt, now)}</span></div><p class="next">Rename it if it is complete; otherwise delete it.</p></li>`,
  )}</ul>`
}

function skippedPaths(skipped: StatusReport['skipped'], { commandLine, now }: PageContext): Markup {
  const more = skipped.length - MOST
  return html`<ul class="cards">${skipped
    .slice(0, MOST)
    .map(
      ({ hint, path, reason, since }) =>
        html`<li class="card warn" data-key="path ${path}"><div class="top"><h3 class="name"><bdi>${path}</bdi></h3><span class="dim when">since ${ago(since, now)}</span></div><p class="reason">${sentence(reason)}</p><p class="next">${sentence(hint)}</p></li>`,
    )}${more > 0 ? html`<li class="dim">${count(more)} more: <code>${commandLine('status --json')}</code></li>` : null}</ul>`
}

/** Lists paths that are left out, and why. */
function passedOver(
  { count: all, paths }: StatusReport['daemon']['ignored'],
  why: string,
  { commandLine }: PageContext,
): Markup {
  const more = all - paths.length
  return html`<p class="dim">${why}${more > 0 ? ` (${count(more)} more)` : null}. <code>${commandLine('show PATH')}</code> says why.</p>
<ul>${paths.map((path) => html`<li data-key="passed ${path}"><bdi>${path}</bdi></li>`)}</ul>`
}

function feeds(
  uploads: readonly UploadReport[],
  { history, now }: EndpointSource & PageContext,
  query: URLSearchParams,
): Markup {
  const find = query.get('find') ?? ''
  const number = Number(query.get('page'))
  const page = Number.isSafeInteger(number) && number > 0 ? number : 1
  const sought = find.toLowerCase()
  const found = uploads.filter(({ feed }) => feed.toLowerCase().includes(sought))
  const shown = found.slice((page - 1) * MOST, page * MOST)
  const rows = shown.map((upload) => {
    const { feed, files, bytes, uploadedAt, detectedAt } = upload
    const joined =
      files !== null && files.count > 1
        ? html` <small class="dim">${count(files.count)} files</small>`
        : null
    return html`<tr data-key="feed ${feed}"><th scope="row" class="name">${feedLink(feed)}${joined}</th><td class="is">${stateOf(upload)}</td>
<td class="n postings" data-label="${upload.postings === 1 ? 'posting' : 'postings'}">${count(upload.postings)}</td><td class="n delta">${changes(upload)}</td>
<td class="trend">${sparkline(history.postings(feed, MOST_POINTS).toReversed())}</td><td class="n size">${size(bytes)}</td><td class="n when">${ago(uploadedAt ?? detectedAt, now)}</td></tr>`
  })
  const columns = ['Feed', 'State', '#Postings', '#Changed', 'Trend', '#Size', '#When']
  return html`${uploads.length > MOST || find !== '' ? search(find) : null}
${shown.length === 0 ? html`<p class="empty">No feed has this text in its name.</p>` : table('feeds', 'Feeds', columns, rows)}${pages(found.length, page, find)}`
}

function search(find: string): Markup {
  return html`<form action="/" role="search"><label>Find <input type="search" name="find" value="${find}" placeholder="part of a name" maxlength="200"></label></form>`
}

function pages(found: number, page: number, find: string): Markup | null {
  const last = Math.ceil(found / MOST)
  if (last <= 1) return null
  const to = (n: number, text: string) =>
    html`<a href="/?page=${n}${find === '' ? '' : `&find=${encodeURIComponent(find)}`}">${text}</a>`
  return html`<nav class="pages" aria-label="Pages of feeds">${page > 1 ? to(page - 1, 'Previous') : null}<span class="dim">Page ${page} of ${last}</span>${page < last ? to(page + 1, 'Next') : null}</nav>`
}

function listed(
  uploads: readonly UploadReport[],
  most: number,
  context: PageContext,
): (Markup | null)[] {
  const more = uploads.length - most
  const rest = html`<li class="dim">${count(more)} more: <code>${context.commandLine('status --json')}</code></li>`
  return [...uploads.slice(0, most).map((one) => card(one, context)), more > 0 ? rest : null]
}
