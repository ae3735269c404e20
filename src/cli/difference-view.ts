// Shows what differs between two versions of a feed: counts, the values that lost or gained postings, and single
// postings. A word or a sign in each line says what its colour says.

import type { ChangedPosting, DifferenceSummary, Group, PostingName } from '../domain/difference.ts'
import { countOf } from '../lib/units.ts'
import { DIFFERENCE_KINDS, type DifferenceKind, fieldsText, NOUNS } from '../ops/difference-text.ts'
import {
  type Cell,
  type Display,
  factsText,
  type SizedDisplay,
  styled,
  table,
  widthOf,
} from '../terminal/render.ts'

const SIGNS: Record<DifferenceKind, string> = { removed: '-', added: '+', changed: '~' }
const COLOURS = { removed: 'red', added: 'green', changed: 'yellow' } as const

/** differenceText shows the counts, in all and by campaign, state and city. */
export function differenceText(
  { by, postings, totals }: DifferenceSummary,
  display: Display,
): string {
  const facts = DIFFERENCE_KINDS.flatMap((kind): Fact[] => {
    const of = kind === 'removed' ? ` of ${countOf(postings.older, 'posting')}` : ''
    const text = `${countOf(totals[kind])}${of}`
    return totals[kind] === 0 ? [['none', kind, text]] : [[kind, kind, text], ...groups(by, kind)]
  })
  facts.push(['none', 'unchanged', countOf(totals.unchanged)])
  const lines = factsText(facts.map(([, name, text]) => [name, text])).split('\n')
  const shown = lines.map((line, n) => {
    const [kind = 'none'] = facts[n] ?? []
    return kind === 'none' ? line : inColourOf(kind, line, display)
  })
  return shown.join('\n')
}

type Fact = [kind: DifferenceKind | 'none', name: string, text: string]

/** groups returns a line for campaigns, states and cities: the values with the most postings of this kind. */
function groups(by: DifferenceSummary['by'], kind: DifferenceKind): Fact[] {
  if (kind === 'changed') return []
  return (Object.keys(by) as Group[]).flatMap((group): Fact[] => {
    const { count, values } = by[group]
    const told = values
      .filter((value) => value[kind] > 0)
      .map(({ isGone, value, ...counted }) => {
        const all = kind === 'removed' && isGone ? ' (all)' : ''
        return `${value} ${countOf(counted[kind])}${all}`
      })
    if (told.length === 0) return []
    const more = count > values.length ? [`and ${countOf(count - values.length)} more`] : []
    return [[kind, `  ${NOUNS[group][0]}`, [...told, ...more].join(', ')]]
  })
}

/** postingTable shows single postings of one kind, one on a line. */
export function postingTable(
  kind: DifferenceKind,
  rows: readonly (PostingName | ChangedPosting)[],
  display: SizedDisplay,
): string {
  const cells = rows.map((row): Cell[] => [SIGNS[kind], row.id, row.title, ...lastCells(row)])
  const headers = [
    '',
    'id',
    'title',
    ...(kind === 'changed' ? ['differs in'] : ['city', 'campaign']),
  ]
  const [head = '', ...lines] = table(headers, cells, widthOf(display)).split('\n')
  return [head, ...lines.map((line) => inColourOf(kind, line, display))].join('\n')
}

function lastCells(row: PostingName | ChangedPosting): Cell[] {
  if (!('fields' in row)) return [row.city, row.externalCampaignId]
  return [fieldsText(row)]
}

function inColourOf(kind: DifferenceKind, text: string, display: Display): string {
  return styled(COLOURS[kind], text, display)
}
