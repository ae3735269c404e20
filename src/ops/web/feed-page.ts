// One feed: its newest version, how it grew or shrank, and every version that is kept.

import type { UploadReport } from '../../history/port.ts'
import { formatBytes } from '../../lib/units.ts'
import { html, type Markup } from './html.ts'
import type { Scene } from './page-parts.ts'
import {
  ago,
  changes,
  count,
  document,
  sentence,
  size,
  stateOf,
  story,
  toneOf,
  utc,
  versionLink,
} from './page-parts.ts'
import { type Point, plot } from './plots.ts'

/** `versions`: newest first, at least one. `most`: where the list was cut. */
export function feedPage(
  feed: string,
  versions: readonly [UploadReport, ...UploadReport[]],
  most: number,
  scene: Scene,
): string {
  const [newest] = versions
  const oldestFirst = versions.toReversed()
  const number = (value: number) => value.toLocaleString('en')
  const main = html`<main>
<p class="crumb"><a href="/">All feeds</a></p>
<h1 class="name"><bdi>${feed}</bdi></h1>
<div class="card ${toneOf(newest)}"><div class="top">${stateOf(newest)}<span class="dim when">${versionLink(newest.id)}, ${ago(newest.detectedAt, scene.now)}</span></div>${story(newest, scene)}</div>
${versions.length < 2 ? null : html`<div class="figures">${figure('Postings', oldestFirst, ({ postings }) => postings, number)}${figure('Size', oldestFirst, ({ bytes }) => bytes, formatBytes)}</div>`}
<section><h2>Versions <span class="dim">${versions.length === most ? `the newest ${most}` : versions.length}</span></h2>
<table class="versions" aria-label="Versions"><thead><tr><th scope="col">Version</th><th scope="col">State</th><th scope="col" class="n">Postings</th><th scope="col" class="n">Changed</th><th scope="col" class="n">Size</th><th scope="col" class="n">Attempts</th><th scope="col" class="n">Detected</th></tr></thead><tbody>${versions.map(
    (version) => row(version, scene.now),
  )}</tbody></table></section>
</main>`
  return document(feed, toneOf(newest), main, scene)
}

function row(version: UploadReport, now: number): Markup {
  const { id, reason, postings, bytes, attempts, detectedAt } = version
  return html`<tr data-key="version ${id}"><th scope="row">${versionLink(id, String(id))}</th><td class="is">${stateOf(version)}${reason === null ? null : html`<p class="reason dim">${sentence(reason)}</p>`}</td>
<td class="n postings" data-label="postings">${count(postings)}</td><td class="n delta">${changes(version)}</td><td class="n size">${size(bytes)}</td><td class="n tries" data-label="${attempts === 1 ? 'attempt' : 'attempts'}">${attempts}</td><td class="n when">${ago(detectedAt, now)}</td></tr>`
}

function figure(
  name: string,
  oldestFirst: readonly UploadReport[],
  valueIn: (version: UploadReport) => number | null,
  format: (value: number) => string,
): Markup | null {
  const points = oldestFirst.flatMap((version): Point[] => {
    const value = valueIn(version)
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
  const says = `${name} over ${points.length} versions: newest ${now}, ${range}`
  return html`<figure><figcaption><b>${name}</b> <span class="n">${now}</span> <span class="dim">${range}</span></figcaption>${plot(points, says)}<div class="axis dim"><span>${utc(first.at).slice(0, 16)}</span><span>${utc(last.at).slice(0, 16)} UTC</span></div></figure>`
}
