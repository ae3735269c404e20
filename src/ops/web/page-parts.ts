// The parts that all pages share: the frame, times, states and next steps.

import type { PostingChanges } from '../../domain/difference.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatBytes, formatProgress, relativeTime } from '../../lib/units.ts'
import { type Asked, nextSteps, onServiceText } from '../advice.ts'
import type { ShowReport, UploadReport } from '../upload-report.ts'
import { type JudgedState, severityOf } from '../version-problems.ts'
import { html, Markup } from './html.ts'
import { icon, SCRIPT, STYLE, type Tone } from './page-style.ts'

/** PageContext is the host and the time of a page. */
export interface PageContext extends Asked {
  host: string
}

export type { Tone }

const COUNTS = new Intl.NumberFormat('en')
/** Shown for a value that is unknown or absent. */
export const NONE = html`<span class="none dim">–</span>`

/** document puts `main` into the frame. `title` begins the tab's title; `tone` is the colour of its icon. */
export function document(
  { main, title, tone }: { main: Markup; title: string; tone: Tone },
  { host, now }: PageContext,
): string {
  return String(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title} · feedsyncd on ${host}</title>
<link rel="icon" href="${new Markup(icon(tone))}" data-stale="${new Markup(icon('dim'))}"><style>${new Markup(STYLE)}</style>
<noscript><meta http-equiv="refresh" content="10"></noscript></head>
<body><header><a class="brand" href="/">feedsyncd</a><span class="dim name">${host}</span></header>
<p id="stale" role="status" hidden>The daemon does not answer. This page is from <b>${utc(now).slice(11, 19)} UTC</b>.</p>
${main}
<footer class="dim"><span>As of <time datetime="${isoTime(now)}">${utc(now).slice(11)} UTC</time>, refreshed automatically.</span> <nav aria-label="For programs"><a href="/api/status">JSON</a> <a href="/metrics">Metrics</a></nav></footer>
<script>${new Markup(SCRIPT)}</script></body></html>
`)
}

/** missingPage is the page for a feed or version that does not exist. */
export function missingPage(what: string, context: PageContext): string {
  const main = html`<main><p class="crumb"><a href="/">All feeds</a></p>
<h1>There is no <bdi>${what}</bdi></h1><p>The history no longer has what is older than state.historyFor.</p></main>`
  return document({ main, title: `No ${what}`, tone: 'dim' }, context)
}

/** ago shows how long ago a time was; the tooltip shows the exact time. */
export function ago(iso: string | null, now: number): Markup {
  if (iso === null) return html`<span class="dim">–</span>`
  // `1h 4m ago` becomes `1h ago`: the tooltip is exact.
  const said = relativeTime(iso, now).replace(/^((?:in )?\d\S*) \d\S*/, '$1')
  return html`<time datetime="${iso}" title="${utc(iso)} UTC">${said}</time>`
}

/** utc formats wall ms or an ISO 8601 time as `2026-11-20 11:59:30`, in UTC. */
export function utc(at: number | string): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}

export const count = (value: number | null) => (value === null ? NONE : COUNTS.format(value))

export const size = (bytes: number | null) => (bytes === null ? NONE : formatBytes(bytes))

interface Table {
  /** The class of the table in the style sheet. */
  name: string
  /** Screen readers read this text. */
  label: string
  columns: readonly string[]
  rows: readonly Markup[]
}

/** table aligns a column right if its name begins with `#`, and shows the name without `#`. */
export function table({ columns, label, name, rows }: Table): Markup {
  const heads = columns.map((column) =>
    column.startsWith('#')
      ? html`<th scope="col" class="n">${column.slice(1)}</th>`
      : html`<th scope="col">${column}</th>`,
  )
  return html`<table class="${name}" aria-label="${label}"><thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table>`
}

interface ColouredState extends JudgedState {
  overdue: boolean
}

/** toneOf returns the colour of a version's state, which is the colour of its problem if the state is a problem. */
export function toneOf({ overdue, ...version }: ColouredState): Tone {
  const severity = severityOf(version)
  if (severity === 'critical') return 'bad'
  if (severity === 'warning' || overdue) return 'warn'
  return version.state === 'uploaded' ? 'good' : 'dim'
}

export function stateOf(upload: ColouredState): Markup {
  const text = upload.overdue ? `${upload.state}, overdue` : upload.state
  return html`<span class="state ${toneOf(upload)}">${text}</span>`
}

/** feedLink links to a feed. `text` is its name, or its name without the folder that all names of a list share. */
export function feedLink(feed: string, text = feed): Markup {
  // A name with a lone surrogate has no UTF-8, so no URL can hold it.
  if (!feed.isWellFormed()) return html`<bdi>${text}</bdi>`
  return html`<a href="/feed?name=${encodeURIComponent(feed)}"><bdi>${text}</bdi></a>`
}

export function versionLink(id: number, text = `version ${id}`): Markup {
  return html`<a href="/version?id=${id}">${text}</a>`
}

/** changesText shows postings added, removed and changed since the version before, as `+3 −1 ~2`; null if unknown. */
export function changesText(changes: PostingChanges | null): Markup | null {
  if (changes === null) return null
  const { added, removed, changed } = changes
  const signed = Object.entries({ '+': added, '−': removed, '~': changed })
  const parts = signed.filter(([, n]) => n > 0).map(([sign, n]) => sign + COUNTS.format(n))
  const said = `${COUNTS.format(added)} added, ${COUNTS.format(removed)} removed, ${COUNTS.format(changed)} changed`
  const shown = parts.length === 0 ? '±0' : parts.join(' ')
  return html`<small class="dim" title="${said}">${shown}</small>`
}

/** story shows a version's progress, reason and next step. */
export function story(upload: UploadReport | ShowReport, context: PageContext): Markup {
  const { progress, reason } = upload
  const next = nextSteps(upload, context)
  return html`${progress === null ? null : html`<p class="reason">${formatProgress(progress, upload.bytes ?? 0)}</p>`}${reason === null ? null : html`<p class="reason">${sentence(reason)}</p>`}${stored(upload, context.now)}${next.map((step) => ('says' in step ? html`<p class="next">${sentence(step.says)}</p>` : null))}${choice(next.flatMap((step) => ('command' in step ? step.command : [])))}`
}

/**
 * stored shows when the file left the folder, or else which version of the feed the service has; null if the service
 * has this version, or has no version and this version needs no person.
 */
function stored(upload: UploadReport | ShowReport, now: number): Markup | null {
  const { id, leftAt, maybeOnService, onService } = upload
  if (leftAt !== null)
    return html`<p class="reason">Its file left the folder ${ago(leftAt, now)}.</p>`
  const isNews = onService === null ? toneOf(upload) === 'warn' : onService.id !== id
  return isNews || maybeOnService !== null
    ? html`<p class="reason">On the service: ${onServiceText(upload, now)}</p>`
    : null
}

/** choice lists alternative commands. A click selects a whole command. */
export function choice(commands: readonly string[]): Markup | null {
  if (commands.length === 0) return null
  return html`<ul class="commands">${commands.map((command) => html`<li><code>${command}</code></li>`)}</ul>`
}

/** sentence capitalizes a reason or hint. They begin with a small letter because elsewhere they follow a colon. */
export const sentence = (text: string) => text.replace(/^./u, (first) => first.toUpperCase())
