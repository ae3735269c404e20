// The status page: first what needs a person, then what ends by itself, then every feed. The server renders it from the
// report of `status`. The page changes nothing; it shows the commands that do.

import { commandFor } from '../../domain/command.ts'
import { STATES } from '../../domain/states.ts'
import { isoTime } from '../../lib/clock.ts'
import { sharedFolder, withoutShared } from '../../lib/shared-folder.ts'
import { formatDuration } from '../../lib/units.ts'
import { campaignsSection } from '../campaigns/page-section.ts'
import type { Problem } from '../problem.ts'
import { worst } from '../problems.ts'
import type { StatusReport } from '../report.ts'
import type { UploadReport } from '../upload-report.ts'
import { html, type Markup } from './html.ts'
import {
  ago,
  changesText,
  choice,
  count,
  document,
  feedLink,
  type PageContext,
  size,
  stateOf,
  type Tone,
  table,
} from './page-parts.ts'
import { sparkline } from './plots.ts'
import { headlineOf, problemCards, TONES } from './problem-cards.ts'
import type { EndpointSource } from './source.ts'

/** Rows of the table on one page, so that the page stays short on a phone. */
const MOST = 12
/** How many versions a sparkline shows. */
const MOST_POINTS = 30

/**
 * statusPage renders the status page. `query` can have three parameters: `find`, a part of a feed's name in any case,
 * `state`, a state of versions, and `page`, counted from 1.
 */
export function statusPage(source: EndpointSource & PageContext, query: URLSearchParams): string {
  const status = source.status()
  const { campaigns, daemon, owed, problems, uploads } = status
  const urgent = problems.filter(({ severity }) => severity !== 'info')
  const quiet = problems.filter(({ severity }) => severity === 'info')
  const worstOfAll = worst(urgent)
  const tone: Tone = worstOfAll === null ? 'good' : TONES[worstOfAll]
  const headline = headlineOf(problems, uploads.length)
  const versions = [...uploads, ...owed]
  const main = html`<main>
<h1 class="${tone}" aria-live="polite">${headline}</h1>
${vitals(status, source)}
${section('Needs attention', urgent.length, problemCards(urgent, versions, source))}
${quietSection(quiet, problemCards(quiet, versions, source), { isOpen: urgent.length === 0 })}
${section('Ignored by name', daemon.ignored.count, ignoredFiles(daemon.ignored, source))}
<section><h2>Feeds${uploads.length > 0 ? html` <span class="dim">${count(uploads.length)}</span>` : null}</h2>
${uploads.length === 0 ? html`<p class="empty">No feed has been seen yet. Drop an XML file into <code>${source.inbox}</code></p>` : feeds(uploads, source, query)}</section>
${campaignsSection(campaigns, problems, source)}
</main>`
  const title = urgent.length === 0 ? 'All well' : `(${count(urgent.length)}) ${headline}`
  return document({ main, title, tone }, source)
}

function vitals(
  { daemon, problems, service, uploads }: StatusReport,
  source: EndpointSource & PageContext,
): Markup {
  const { history, now } = source
  const known = problems.find(({ subject }) => subject.kind === 'service')
  const tone: Tone =
    known !== undefined ? TONES[known.severity] : service.state === 'ok' ? 'good' : 'dim'
  const state = service.state === 'unknown' ? 'not asked yet' : service.state
  const up = daemon.startedAt === null ? '–' : formatDuration(now - Date.parse(daemon.startedAt))
  const upToDate = uploads.filter((one) => one.state === 'uploaded').length
  const how = daemon.mode === 'poll' ? `polled: ${daemon.modeReason}` : 'watched by events'
  return html`<dl class="vitals">
<div><dt>Service</dt><dd><span class="state ${tone}">${state}</span></dd><dd class="dim">${service.baseUrl.replace(/^https:\/\//, '')}</dd></div>
<div><dt>Last upload</dt><dd>${ago(isoTime(history.lastSuccessAt(now)), now)}</dd><dd class="dim">${uploads.length === 0 ? 'no feed yet' : `${count(upToDate)} of ${count(uploads.length)} feeds up to date`}</dd></div>
<div><dt>Folder listed</dt><dd>${ago(daemon.lastScanAt, now)}</dd><dd class="dim">${how}</dd></div>
<div><dt>Running for</dt><dd>${up}</dd><dd class="dim">pid ${daemon.pid}</dd></div>
</dl>`
}

function section(name: string, entries: number, body: Markup | null): Markup | null {
  if (entries === 0 || body === null) return null
  return html`<section><h2>${name} <span class="dim">${count(entries)}</span></h2>${body}</section>`
}

/** quietSection shows the problems that end by themselves, closed while something else needs attention. */
function quietSection(
  quiet: readonly Problem[],
  cards: Markup | null,
  { isOpen }: { isOpen: boolean },
): Markup | null {
  if (cards === null) return null
  const summary = html`<summary>Needs nobody <span class="dim">${count(quiet.length)}</span></summary>`
  return isOpen
    ? html`<section><details open>${summary}${cards}</details></section>`
    : html`<section><details>${summary}${cards}</details></section>`
}

/** ignoredFiles lists files that no pattern of inbox.include matches. */
function ignoredFiles(
  { count: all, paths }: StatusReport['daemon']['ignored'],
  { commandLine }: PageContext,
): Markup {
  const more = all - paths.length
  const [first = ''] = paths
  return html`<p class="dim">No pattern of inbox.include matches these files${more > 0 ? html` (${count(more)} more)` : null}.</p>
<ul class="names">${paths.map((path) => html`<li data-key="passed ${path}"><bdi>${path}</bdi></li>`)}</ul>${choice([commandLine(commandFor('show <what>', `path:${first}`))])}`
}

function feeds(
  uploads: readonly UploadReport[],
  { history, now }: EndpointSource & PageContext,
  query: URLSearchParams,
): Markup {
  const find = query.get('find') ?? ''
  const number = Number(query.get('page'))
  const page = Number.isSafeInteger(number) && number > 0 ? number : 1
  const state = STATES.find((each) => each === query.get('state')) ?? ''
  const sought = find.toLowerCase()
  const found = uploads.filter(
    (upload) =>
      upload.feed.toLowerCase().includes(sought) && (state === '' || upload.state === state),
  )
  const shown = found.slice((page - 1) * MOST, page * MOST)
  const shared = sharedFolder(shown.map(({ feed }) => feed))
  const rows = shown.map((upload) => {
    const { feed, files, bytes, uploadedAt, detectedAt } = upload
    const joined =
      files !== null && files.count > 1
        ? html` <small class="dim">${count(files.count)} files</small>`
        : null
    return html`<tr data-key="feed ${feed}"><th scope="row" class="name">${feedLink(feed, withoutShared(feed, shared))}${joined}</th><td class="is">${stateOf(upload)}</td>
<td class="n postings" data-label="${upload.postings === 1 ? 'posting' : 'postings'}">${count(upload.postings)}</td><td class="n delta">${changesText(upload.changes)}</td>
<td class="trend">${sparkline(history.postings(feed, MOST_POINTS).toReversed())}</td><td class="n size">${size(bytes)}</td><td class="n when">${ago(uploadedAt ?? detectedAt, now)}</td></tr>`
  })
  const columns = ['Feed', 'State', '#Postings', '#Changed', 'Trend', '#Size', '#When']
  const isFiltered = find !== '' || state !== ''
  return html`${uploads.length > MOST || isFiltered ? search(uploads, { find, state }) : null}
${shown.length === 0 ? html`<p class="empty">No feed matches.</p>` : table({ name: 'feeds', label: 'Feeds', columns, rows })}${pageLinks(found.length, page, { find, state })}`
}

interface Sought {
  find: string
  state: string
}

function search(uploads: readonly UploadReport[], { find, state }: Sought): Markup {
  const present = STATES.filter(
    (each) => each === state || uploads.some((one) => one.state === each),
  )
  const options = present.map((each) =>
    each === state ? html`<option selected>${each}</option>` : html`<option>${each}</option>`,
  )
  return html`<form action="/" role="search"><label>Find <input type="search" name="find" value="${find}" placeholder="part of a name" maxlength="200"></label> <label>State <select name="state"><option value="">any</option>${options}</select></label> <button>Filter</button></form>`
}

function pageLinks(found: number, page: number, { find, state }: Sought): Markup | null {
  const last = Math.ceil(found / MOST)
  if (last <= 1) return null
  const kept = Object.entries({ find, state }).filter(([, value]) => value !== '')
  const to = (n: number, text: string) => {
    const query = new URLSearchParams([['page', String(n)], ...kept])
    return html`<a href="/?${query.toString()}">${text}</a>`
  }
  return html`<nav class="pages" aria-label="Pages of feeds">${page > 1 ? to(page - 1, 'Previous') : null}<span class="dim">Page ${page} of ${last}</span>${page < last ? to(page + 1, 'Next') : null}</nav>`
}
