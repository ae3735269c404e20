// feedsyncd campaigns preview: which postings of the last uploads the file selects, and what `apply` would change. It
// does not call the service.

import type { Command } from 'commander'
import { printable } from '../../lib/printable.ts'
import { countOf } from '../../lib/units.ts'
import type { Context } from '../../terminal/context.ts'
import { type Call, define } from '../../terminal/define.ts'
import { table } from '../../terminal/render.ts'
import type { PreviewRow } from '../preview.ts'
import { forever } from './confirm.ts'
import { currentEntries, currentEntry } from './named-entries.ts'
import { wholeNumber } from './options.ts'
import { NO_FEED, selectionText } from './plan-view.ts'

const DEFAULT_LIMIT = 20

export function previewCommand(context: Context): Command {
  const text =
    'show which postings of the last uploads the file selects; asks nothing of the service'
  return define<{ limit: number }>(context, 'preview', text, (call, key?: string) =>
    key === undefined ? allEntries(call) : oneEntry(call, key),
  )
    .argument('[key]', 'external campaign id of one entry, whose postings are listed')
    .option('--limit <n>', 'the most postings to list', wholeNumber, DEFAULT_LIMIT)
}

async function allEntries(call: Call<unknown>): Promise<void> {
  const { context, config, options, show } = call
  const { previewAll } = await import('../preview.ts')
  const all = await previewAll(config, await currentEntries(call), forever)
  const number = (count: number | null) =>
    (all.feeds === 0 ? null : count)?.toLocaleString('en-US') ?? '?'
  const rows = all.entries.map((one) => [one.key, number(one.before), number(one.after)])
  show(all, () => table(['key', 'sent last', 'after'], rows, null))
  if (options.json) return
  for (const problem of all.problems) context.err(printable(problem))
  const of = `of ${countOf(all.postings, 'posting')} in ${countOf(all.feeds, 'feed')}`
  context.err(all.feeds === 0 ? NO_FEED : of)
}

async function oneEntry(call: Call<{ limit: number }>, key: string): Promise<void> {
  const { context, config, options, show } = call
  const { previewOne } = await import('../preview.ts')
  const entry = await currentEntry(call, key)
  const { shown: one, isSent } = await previewOne(config, { entry, limit: options.limit }, forever)
  if (options.json) return show(one, () => '')
  if (one.rows.length > 0) context.out(rowsText(one.rows, { isSent }))
  const left = one.listed - one.rows.length
  if (left > 0) context.err(`and ${left} more; --limit shows them`)
  for (const problem of one.problems) context.err(printable(problem))
  const moves = one.gained + one.lost === 0 ? '' : ` (+${one.gained}, -${one.lost})`
  context.err(`${selectionText(one)}${moves}, of ${countOf(one.postings, 'posting')}`)
}

/**
 * rowsText returns a table of postings. A + marks a posting that `apply` would add, a - marks a posting that `apply`
 * would remove. If a targeting was sent, "now:" stands before the reason why that targeting leaves out a + posting.
 */
function rowsText(rows: readonly PreviewRow[], { isSent }: { isSent: boolean }): string {
  const cells = rows.map((row) =>
    [
      { stays: '', comes: '+', goes: '-' }[row.change],
      row.id,
      row.title,
      row.city,
      row.state,
      row.postalCode,
      row.requisitionId,
      isSent && row.change === 'comes' ? `now: ${row.why}` : row.why,
    ].map((cell) => cell ?? null),
  )
  return table(
    ['', 'id', 'title', 'city', 'state', 'postal code', 'requisition', 'why'],
    cells,
    null,
  )
}
