// The pages of a feed and of a version. A feed's page shows its newest version, its size over time, and its versions. A
// version's page shows its content, its events, and each attempt to deliver it.

import { commandFor } from '../../domain/command.ts'
import { formatDuration } from '../../lib/units.ts'
import type { EventReport, ShowReport, UploadReport } from '../upload-report.ts'
import { differenceSection } from './difference-section.ts'
import { html, type Markup } from './html.ts'
import {
  ago,
  changesText,
  count,
  document,
  feedLink,
  type PageContext,
  sentence,
  size,
  stateOf,
  story,
  table,
  toneOf,
  utc,
  versionLink,
} from './page-parts.ts'
import { type Point, plot } from './plots.ts'

const MOST_CAMPAIGNS = 50
const TONES = { stored: 'good', refused: 'warn', failed: 'warn', unknown: 'warn' } as const

interface FeedVersions {
  newest: UploadReport
  /** The last versions of the feed, with `newest` among them; the newest comes first. */
  versions: readonly UploadReport[]
  /** The largest number of versions that `versions` can have. */
  most: number
}

export function feedPage({ most, newest, versions }: FeedVersions, context: PageContext): string {
  const { feed } = newest
  const oldestFirst = versions.toReversed()
  const rows = versions.map((version) => row(version, context.now))
  const columns = ['Version', 'State', '#Postings', '#Changed', '#Size', '#Attempts', '#Detected']
  const main = html`<main>
<p class="crumb"><a href="/">All feeds</a></p>
<h1 class="name"><bdi>${feed}</bdi></h1>
<div class="card ${toneOf(newest)}"><div class="top">${stateOf(newest)}<span class="dim when">${versionLink(newest.id)}, ${ago(newest.detectedAt, context.now)}</span></div>${story(newest, context)}</div>
${versions.length < 2 ? null : html`<div class="figures">${figure({ name: 'Postings', fact: 'postings', format: count }, oldestFirst)}${figure({ name: 'Size', fact: 'bytes', format: size }, oldestFirst)}</div>`}
<section><h2>Versions <span class="dim">${versions.length === most ? `the newest ${most}` : versions.length}</span></h2>
${table({ name: 'versions', label: 'Versions', columns, rows })}</section>
${newest.files === null ? null : files(newest.files)}
</main>`
  return document({ main, title: feed, tone: toneOf(newest) }, context)
}

/** files lists the files of a feed whose file names have dates. */
function files({ count: all, paths }: NonNullable<UploadReport['files']>): Markup {
  const more = all - paths.length
  return html`<section><h2>Files <span class="dim">${count(all)}</span></h2><ul>${paths.map((path) => html`<li><bdi>${path}</bdi></li>`)}${more > 0 ? html`<li class="dim">${count(more)} more</li>` : null}</ul></section>`
}

function row(version: UploadReport, now: number): Markup {
  const { id, reason, postings, bytes, attempts, detectedAt } = version
  return html`<tr data-key="version ${id}"><th scope="row">${versionLink(id, String(id))}</th><td class="is">${stateOf(version)}${reason === null ? null : html`<p class="reason dim">${sentence(reason)}</p>`}</td>
<td class="n postings" data-label="${postings === 1 ? 'posting' : 'postings'}">${count(postings)}</td><td class="n delta">${changesText(version.changes)}</td><td class="n size">${size(bytes)}</td><td class="n tries" data-label="${attempts === 1 ? 'attempt' : 'attempts'}">${attempts}</td><td class="n when">${ago(detectedAt, now)}</td></tr>`
}

interface Figure {
  name: string
  fact: 'postings' | 'bytes'
  format: typeof count | typeof size
}

function figure(
  { fact, format, name }: Figure,
  oldestFirst: readonly UploadReport[],
): Markup | null {
  const points = oldestFirst.flatMap((version): Point[] => {
    const value = version[fact]
    if (value === null || version.detectedAt === null) return []
    const at = Date.parse(version.detectedAt)
    const title = `version ${version.id}, ${utc(at)} UTC: ${format(value)}, ${version.state}`
    return [{ at, value, title, tone: toneOf(version) }]
  })
  const values = points.map(({ value }) => value)
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return null
  const now = format(last.value)
  const range = `lowest ${format(Math.min(...values))}, highest ${format(Math.max(...values))}`
  const label = `${name} over ${points.length} versions: newest ${now}, ${range}`
  return html`<figure><figcaption><b>${name}</b> <span class="n">${now}</span> <span class="dim">${range}</span></figcaption>${plot(points, label)}<div class="axis dim"><span>${utc(first.at).slice(0, 16)}</span><span>${utc(last.at).slice(0, 16)} UTC</span></div></figure>`
}

/**
 * versionPage shows a version. `versions` are the last versions of the feed, newest first, for the picture of what a
 * held version changes.
 */
export function versionPage(
  version: ShowReport,
  context: PageContext,
  versions: readonly UploadReport[] = [],
): string {
  const { id, feed, attempts, events, warnings } = version
  const main = html`<main>
<p class="crumb name"><a href="/">All feeds</a> / ${feedLink(feed)}</p>
<h1>Version ${id}</h1>
<div class="card ${toneOf(version)}"><div class="top">${stateOf(version)}<span class="dim when">detected ${ago(version.detectedAt, context.now)}</span></div>${story(version, context)}${warnings.length === 0 ? null : html`<ul class="warnings">${warnings.map((text) => html`<li>${text}</li>`)}</ul>`}</div>
${differenceSection(version, versions)}
<section><h2>What it holds</h2><dl class="facts">${facts(version)}</dl></section>
<section><h2>What happened</h2>${earlier(version.earlierEvents, id, context)}<ol class="events">${events.map((event, n) => eventItem(event, events[n - 1]))}</ol></section>
${attempts.length === 0 ? null : attemptTable(version, context)}
</main>`
  const title = `${feed}, version ${id}`
  return document({ main, title, tone: toneOf(version) }, context)
}

function facts(version: ShowReport): (Markup | null)[] {
  const { bytes, changes, externalCampaignIds: ids, sha256, fileUrl } = version
  const etag =
    version.etagVerified === null ? null : version.etagVerified ? 'verified' : 'not verifiable'
  const all = {
    Postings: version.postings && count(version.postings),
    Changes:
      changes &&
      `${count(changes.added)} added, ${count(changes.removed)} removed, ${count(changes.changed)} changed`,
    Size: bytes === null ? null : size(bytes),
    Path: html`<bdi>${version.path}</bdi>`,
    Account: version.account,
    Records: version.records ?? version.root,
    Encoding: version.encoding,
    'Campaign ids': ids && campaigns(ids),
    Requisitions: version.requisitionIds,
    'SHA-256': sha256 && html`<code>${sha256}</code>`,
    'Stored as': fileUrl && html`<code>${fileUrl}</code>`,
    'Checksum of storage': etag,
  }
  return Object.entries(all).map(([name, fact]) =>
    fact === null ? null : html`<div><dt>${name}</dt><dd>${fact}</dd></div>`,
  )
}

function campaigns(ids: Readonly<Record<string, number>>): Markup | null {
  const all = Object.entries(ids)
  if (all.length === 0) return null
  const chips = all
    .slice(0, MOST_CAMPAIGNS)
    .map(([id, n]) => html`<li><bdi>${id}</bdi> <span class="dim">${count(n)}</span></li>`)
  const more = all.length - MOST_CAMPAIGNS
  return html`<ul class="chips">${chips}${more > 0 ? html`<li class="dim">${more} more</li>` : null}</ul>`
}

/** earlier names the command that shows the events or attempts that the page leaves out. */
function earlier(left: number, id: number, { commandLine }: PageContext): Markup | null {
  if (left === 0) return null
  return html`<p class="dim">${count(left)} earlier: <code>${commandLine(commandFor('show <what> --all', id))}</code></p>`
}

function eventItem(
  { at, count: times, firstAt, to, reason }: EventReport,
  before: EventReport | undefined,
): Markup {
  const took = at && before?.at ? Date.parse(at) - Date.parse(before.at) : null
  const tone =
    to === 'seen'
      ? 'dim'
      : toneOf({ state: to as ShowReport['state'], overdue: false, reasonCode: null, refusals: 0 })
  return html`<li><span class="state ${tone}">${to}</span><time class="dim" datetime="${at}">${at === null ? '–' : utc(at)}</time><span class="dim n">${took === null ? null : `after ${formatDuration(took)}`}</span>${reason === null ? null : html`<p class="reason">${sentence(reason)}</p>`}${firstAt ? html`<p class="dim">${count(times ?? 1)} times since ${utc(firstAt)}</p>` : null}</li>`
}

function attemptTable({ attempts, earlierAttempts, id }: ShowReport, context: PageContext): Markup {
  const rows = attempts.map(({ n, startedAt, endedAt, outcome, status, code, bytesSent }) => {
    const ms = startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : null
    const answer = [status, code].filter((part) => part !== null).join(' ')
    return html`<tr><th scope="row">${n}</th><td><span class="state ${outcome === null ? 'dim' : TONES[outcome]}">${outcome ?? 'running'}</span></td><td class="code">${answer}</td>
<td class="n">${size(bytesSent)}</td><td class="n">${ms === null ? null : formatDuration(ms)}</td><td class="n when">${startedAt === null ? null : utc(startedAt)}</td></tr>`
  })
  const columns = ['Attempt', 'Outcome', 'Answer', '#Sent', '#Took', '#Started']
  return html`<section><h2>Attempts <span class="dim">${count(attempts.length + earlierAttempts)}</span></h2>${earlier(earlierAttempts, id, context)}${table({ name: 'attempts', label: 'Attempts', columns, rows })}</section>`
}
