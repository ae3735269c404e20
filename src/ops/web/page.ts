// The status page: what needs a person first, then what is on its way, then every feed. Made on the
// server, of the same facts as `status`; it offers no way to change anything, only the commands that do.

import type { StatusReport, UploadReport } from '../../history/port.ts'
import { IN_WORK } from '../../history/states.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatDuration } from '../../lib/units.ts'
import { needsPerson } from '../advice.ts'
import { waitingCampaigns } from '../campaign-conditions.ts'
import type { CampaignSeen, PlanModel, Pulse } from '../port.ts'
import { campaignCards, campaignsSection } from './campaigns-section.ts'
import { html, type Markup } from './html.ts'
import type { Scene, Tone } from './page-parts.ts'
import {
  ago,
  changes,
  choice,
  count,
  document,
  feedLink,
  sentence,
  size,
  stateOf,
  story,
  toneOf,
  versionLink,
} from './page-parts.ts'
import { sparkline } from './plots.ts'

export interface PageFacts extends Scene {
  status: StatusReport
  pulse: Pulse
  /** Where feeds are dropped. */
  inbox: string
  /** Wall ms. */
  lastSuccessAt: number | null
  /** Only feeds whose name holds this, in any case; empty: all. */
  find: string
  /** Counted from 1. */
  page: number
  /** Postings of a feed's versions, oldest first. */
  postings: (feed: string) => readonly (number | null)[]
  /** The plan of the last look at the campaigns, as far as it is kept. */
  plan: PlanModel | null
  /** The campaigns that are managed, by key. */
  campaigns: readonly CampaignSeen[]
}

/** Rows that a person can take in and a phone can hold. */
const MOST = 100
/** Nobody has to do anything about these. */
const MOST_MOVING = 12

interface Trouble {
  says: string
  commands: string[]
}

export function statusPage(facts: PageFacts): string {
  const { status } = facts
  const all = [...status.uploads, ...status.owed]
  const urgent = all.filter(needsPerson)
  const moving = all.filter((upload) => IN_WORK.includes(upload.state) && !needsPerson(upload))
  const troubles = troublesOf(facts)
  const campaigns = status.campaigns ?? null
  const waiting = waitingCampaigns(campaigns)
  const tone: Tone =
    troubles.length > 0 || urgent.some((one) => toneOf(one) === 'bad')
      ? 'bad'
      : urgent.length + waiting > 0
        ? 'warn'
        : 'good'
  const headline = headlineOf(troubles.length, urgent.length, waiting, status.uploads.length)
  const main = html`<main>
<h1 class="${tone}" aria-live="polite">${headline}</h1>
${vitals(facts)}
${section(
  'Needs attention',
  troubles.length + urgent.length + waiting,
  html`<ul class="cards">${troubles.map(trouble)}${listed(urgent, MOST, facts)}${campaignCards(campaigns)}</ul>`,
)}
${section('On its way', moving.length, html`<ul class="cards">${listed(moving, MOST_MOVING, facts)}</ul>`)}
${section('Left unfinished', status.daemon.unfinished.length, unfinished(facts))}
${section('Ignored by name', status.daemon.ignored.count, passedOver(status.daemon.ignored, 'No pattern of inbox.include matches these files', facts))}
${section('Links that are not followed', status.daemon.links.count, passedOver(status.daemon.links, 'Put the file or directory itself in the place of each link', facts))}
<section><h2>Feeds${status.uploads.length > 0 ? html` <span class="dim">${count(status.uploads.length)}</span>` : null}</h2>
${status.uploads.length === 0 ? html`<p class="empty">No feed has been seen yet. Drop an XML file into <code>${facts.inbox}</code></p>` : feeds(facts)}</section>
${campaignsSection(campaigns, facts)}
</main>`
  const owed = troubles.length + urgent.length + waiting
  return document(owed === 0 ? 'All well' : `(${owed}) ${headline}`, tone, main, facts)
}

function headlineOf(troubles: number, urgent: number, campaigns: number, feeds: number): string {
  if (troubles > 0) return 'feedsyncd cannot work as it should'
  const named = (n: number, noun: string) => (n === 0 ? [] : [`${n} ${noun}${n === 1 ? '' : 's'}`])
  const who = [...named(urgent, 'feed'), ...named(campaigns, 'campaign')].join(' and ')
  if (who !== '') return `${who} ${urgent + campaigns === 1 ? 'needs' : 'need'} attention`
  return feeds === 0 ? 'Waiting for the first feed' : 'Nothing needs attention'
}

/** Each with its way out. */
function troublesOf({ status, pulse, commandLine }: PageFacts): Trouble[] {
  const { service } = status
  const found: Trouble[] = pulse.conditions.map(({ hint, message }) => ({
    says: hint === null ? message : `${message}; ${hint}`,
    commands: [commandLine('doctor')],
  }))
  if (['ok', 'unknown', 'credentials'].includes(service.state)) return found
  const says = `service ${service.state}: ${service.reason ?? 'no reason given'}`
  return [...found, { says, commands: [commandLine('doctor')] }]
}

function vitals({ status, lastSuccessAt, now }: PageFacts): Markup {
  const { daemon, service } = status
  const tone = { ok: 'good', degraded: 'warn', down: 'bad', credentials: 'bad', unknown: 'dim' }[
    service.state
  ]
  const state = service.state === 'unknown' ? 'not asked yet' : service.state
  const up = daemon.startedAt === null ? '–' : formatDuration(now - Date.parse(daemon.startedAt))
  const upToDate = status.uploads.filter((one) => one.state === 'uploaded').length
  const how =
    daemon.mode === 'poll' ? `polled: ${daemon.modeReason ?? 'as configured'}` : 'watched by events'
  return html`<dl class="vitals">
<div><dt>Service</dt><dd><span class="state ${tone}">${state}</span></dd><dd class="dim">${service.baseUrl.replace(/^https:\/\//, '')}</dd></div>
<div><dt>Last upload</dt><dd>${ago(isoTime(lastSuccessAt), now)}</dd><dd class="dim">${status.uploads.length === 0 ? 'no feed yet' : `${upToDate} of ${status.uploads.length} feeds up to date`}</dd></div>
<div><dt>Folder listed</dt><dd>${ago(daemon.lastScanAt, now)}</dd><dd class="dim">${how}</dd></div>
<div><dt>Running for</dt><dd>${up}</dd><dd class="dim">pid ${daemon.pid}</dd></div>
</dl>`
}

function section(name: string, entries: number, body: Markup): Markup | null {
  if (entries === 0) return null
  return html`<section><h2>${name} <span class="dim">${count(entries)}</span></h2>${body}</section>`
}

function trouble({ says, commands }: Trouble): Markup {
  return html`<li class="card bad" data-key="trouble ${says}"><p class="reason">${sentence(says)}</p>${choice(commands)}</li>`
}

function card(upload: UploadReport, facts: PageFacts): Markup {
  const { feed, id, detectedAt } = upload
  return html`<li class="card ${toneOf(upload)}" data-key="version ${id}">
<div class="top"><h3 class="name">${feedLink(feed)}</h3>${stateOf(upload)}<span class="dim when">${versionLink(id)}, ${ago(detectedAt, facts.now)}</span></div>
${story(upload, facts)}</li>`
}

function unfinished({ status, now }: PageFacts): Markup {
  return html`<ul class="cards">${status.daemon.unfinished.map(
    ({ path, modifiedAt }) =>
      html`<li class="card warn" data-key="path ${path}"><div class="top"><h3 class="name"><bdi>${path}</bdi></h3><span class="dim when">last written ${ago(modifiedAt, now)}</span></div><p class="next">Rename it if it is whole, else remove it.</p></li>`,
  )}</ul>`
}

/** Names of the folder that are passed over, and why. */
function passedOver(
  { count: all, paths }: StatusReport['daemon']['ignored'],
  why: string,
  { commandLine }: PageFacts,
): Markup {
  const more = all - paths.length
  return html`<p class="dim">${why}${more > 0 ? ` (${count(more)} more)` : null}. <code>${commandLine('explain PATH')}</code> explains one.</p>
<ul>${paths.map((path) => html`<li data-key="passed ${path}"><bdi>${path}</bdi></li>`)}</ul>`
}

function feeds({ status, now, find, page, postings }: PageFacts): Markup {
  const sought = find.toLowerCase()
  const found = status.uploads.filter(({ feed }) => feed.toLowerCase().includes(sought))
  const shown = found.slice((page - 1) * MOST, page * MOST)
  const rows = shown.map((upload) => {
    const { feed, bytes, uploadedAt, detectedAt } = upload
    return html`<tr data-key="feed ${feed}"><th scope="row" class="name">${feedLink(feed)}</th><td class="is">${stateOf(upload)}</td>
<td class="n postings" data-label="postings">${count(upload.postings)}</td><td class="n delta">${changes(upload)}</td>
<td class="trend">${sparkline(postings(feed))}</td><td class="n size">${size(bytes)}</td><td class="n when">${ago(uploadedAt ?? detectedAt, now)}</td></tr>`
  })
  const table = html`<table class="feeds" aria-label="Feeds"><thead><tr><th scope="col">Feed</th><th scope="col">State</th><th scope="col" class="n">Postings</th><th scope="col" class="n">Changed</th><th scope="col">Trend</th><th scope="col" class="n">Size</th><th scope="col" class="n">When</th></tr></thead><tbody>${rows}</tbody></table>`
  return html`${status.uploads.length > MOST || find !== '' ? search(find) : null}
${shown.length === 0 ? html`<p class="empty">There is no feed of this name.</p>` : table}${pages(found.length, page, find)}`
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
  facts: PageFacts,
): (Markup | null)[] {
  const more = uploads.length - most
  const rest = html`<li class="dim">${count(more)} more: <code>${facts.commandLine('status --json')}</code></li>`
  return [...uploads.slice(0, most).map((one) => card(one, facts)), more > 0 ? rest : null]
}
