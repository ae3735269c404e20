// The section of a version's page about what a held version changes: a picture of the postings over the last versions
// with what would vanish, the values that lose most, and the first postings of each kind.

import type {
  ChangedPosting,
  DifferenceSummary,
  Group,
  PostingName,
} from '../../domain/difference.ts'
import { countOf } from '../../lib/units.ts'
import { DIFFERENCE_KINDS, type DifferenceKind, fieldsText, NOUNS } from '../difference-text.ts'
import type { ShowReport, UploadReport } from '../upload-report.ts'
import { html, type Markup } from './html.ts'
import { count, NONE, table, versionLink } from './page-parts.ts'
import { bars } from './plots.ts'

const TITLES: Record<DifferenceKind, string> = {
  removed: 'Removed',
  added: 'Added',
  changed: 'Changed',
}

/** MOST_BARS is how many versions the picture shows. */
export const MOST_BARS = 20

/** differenceSection returns null if the version has no difference. `versions` are the feed's, the newest first. */
export function differenceSection(
  { difference, id, state }: ShowReport,
  versions: readonly UploadReport[],
): Markup | null {
  if (difference === null) return null
  const { older, summary } = difference
  if (older === null)
    return section(html`<p class="dim">There is no earlier copy to compare it with.</p>`)
  if (summary === null)
    return section(html`<p class="dim">It could not be compared with ${versionLink(older)}.</p>`)
  const { by, named, totals } = summary
  const counts = DIFFERENCE_KINDS.map(
    (kind) =>
      html`<div><dt>${TITLES[kind]}</dt><dd>${count(totals[kind])}${kind === 'removed' ? html` of ${count(summary.postings.older)} postings${groups(by)}` : null}</dd></div>`,
  )
  return section(html`<p class="dim">Beside ${versionLink(older)}.</p>
${state === 'held' ? picture(id, summary, versions) : null}
<dl class="facts">${counts}<div><dt>Unchanged</dt><dd>${count(totals.unchanged)}</dd></div></dl>
${DIFFERENCE_KINDS.map((kind) => postings(kind, named[kind], totals[kind]))}`)
}

const section = (content: Markup) =>
  html`<section class="difference"><h2>What it changes</h2>${content}</section>`

function picture(
  id: number,
  { postings: { newer, older }, totals: { removed } }: DifferenceSummary,
  versions: readonly UploadReport[],
): Markup {
  const earlier = versions.filter((one) => one.id < id && one.postings !== null)
  const shown = earlier.slice(0, MOST_BARS).toReversed()
  const all = [
    ...shown.map((one) => ({
      title: `version ${one.id}, ${one.state}: ${countOf(one.postings ?? 0, 'posting')}`,
      value: one.postings ?? 0,
      lost: 0,
    })),
    {
      title: `version ${id}: ${countOf(newer, 'posting')}, ${countOf(removed)} would vanish`,
      value: newer,
      lost: removed,
    },
  ]
  const label = `Postings of the last ${countOf(all.length, 'version')}. Of ${countOf(older, 'posting')}, ${countOf(removed)} would vanish`
  return html`<figure><figcaption><b>Postings</b> <span class="n">${count(older)} → ${count(newer)}</span> <span class="lost-key">${count(removed)} would vanish</span></figcaption>${bars(all, label)}</figure>`
}

/** groups lists the values that lose the most postings, in one list for each group. */
function groups(by: DifferenceSummary['by']): Markup[] {
  return (Object.keys(by) as Group[]).flatMap((group) => {
    const { count: all, values } = by[group]
    const losing = values.filter(({ removed }) => removed > 0)
    if (losing.length === 0) return []
    const chips = losing.map(
      ({ isGone, removed, value }) =>
        html`<li><bdi>${value}</bdi> <span class="dim">${count(removed)}${isGone ? ', all' : ''}</span></li>`,
    )
    const more =
      all > values.length ? html`<li class="dim">${count(all - values.length)} more</li>` : null
    return [html`<ul class="chips" aria-label="Removed by ${NOUNS[group][0]}">${chips}${more}</ul>`]
  })
}

function postings(
  kind: DifferenceKind,
  rows: readonly (PostingName | ChangedPosting)[],
  all: number,
): Markup | null {
  if (rows.length === 0) return null
  const cell = (value: string | null) => (value === null ? NONE : html`<bdi>${value}</bdi>`)
  const columns = ['Id', 'Title', ...(kind === 'changed' ? ['Differs in'] : ['City', 'Campaign'])]
  const lines = rows.map((row) => {
    const rest =
      'fields' in row
        ? html`<td>${fieldsText(row)}</td>`
        : html`<td>${cell(row.city)}</td><td>${cell(row.externalCampaignId)}</td>`
    return html`<tr><th scope="row" class="name">${cell(row.id)}</th><td>${cell(row.title)}</td>${rest}</tr>`
  })
  const title = rows.length < all ? html`the first ${rows.length} of ${count(all)}` : count(all)
  return html`<h3>${TITLES[kind]} <span class="dim">${title}</span></h3>${table({ name: 'postings', label: TITLES[kind], columns, rows: lines })}`
}
