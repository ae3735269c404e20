// feedsyncd campaigns preview: which postings the file selects of the feeds that were uploaded last, and
// what applying it would change. Asks nothing of the service.

import { Command } from 'commander'
import type { PreviewRow } from '../../app/preview.ts'
import type { Selection } from '../../campaigns/plan.ts'
import { type Context, outJson, readConfig } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { printable, table } from '../render.ts'
import { counted, NO_FEED, selectionText } from './feed-view.ts'
import { wholeNumber } from './fields.ts'
import { usable } from './reconcile.ts'

interface Options {
  config?: string
  json?: boolean
  limit?: number
}

const DEFAULT_LIMIT = 20

export function previewCommand(context: Context): Command {
  return new Command('preview')
    .description('which postings the file selects of the last uploads; asks nothing of the service')
    .argument('[key]', 'external campaign id of one entry, whose postings are listed')
    .option('--limit <n>', 'postings that are listed', wholeNumber, DEFAULT_LIMIT)
    .option('--json', 'as JSON')
    .action(async (key: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = readConfig(context, options.config)
      const { readCampaignsFile } = await import('../../app/campaigns.ts')
      const { previewAll, previewOne } = await import('../../app/preview.ts')
      const { desired } = usable(readCampaignsFile(config))
      context.exit(EXIT.ok)
      if (key === undefined) {
        const all = await previewAll(config, desired, context.clock)
        if (options.json) return outJson(context, all)
        const number = (count: number | null) =>
          (all.feeds === 0 ? null : count)?.toLocaleString('en-US') ?? '?'
        const rows = all.entries.map((one) => [
          ...[one.key, one.state, number(one.before), number(one.after)],
        ])
        context.out(table(['key', 'feed', 'now', 'after'], rows, null))
        for (const problem of all.problems) context.err(printable(problem))
        return context.err(
          all.feeds === 0
            ? NO_FEED
            : `of ${counted(all.postings, 'posting')} in ${counted(all.feeds, 'feed')}`,
        )
      }
      const one = await previewOne(config, desired, key, options.limit ?? DEFAULT_LIMIT)
      if (options.json) return outJson(context, one)
      if (one.rows.length > 0) context.out(rowsText(one.rows))
      const left = one.listed - one.rows.length
      if (left > 0) context.err(`and ${left} more; --limit shows them`)
      for (const problem of one.problems) context.err(printable(problem))
      context.err(`${selectionText(one)}${moves(one)}, of ${counted(one.postings, 'posting')}`)
    })
}

/** Postings that come are marked with +, those that go with -. */
function rowsText(rows: readonly PreviewRow[]): string {
  const cells = rows.map((row) =>
    [
      ...[{ stays: '', comes: '+', goes: '-' }[row.change], row.id, row.title, row.city, row.state],
      ...[row.postalCode, row.requisitionId],
    ].map((cell) => cell ?? null),
  )
  return table(['', 'id', 'title', 'city', 'state', 'postal code', 'requisition'], cells, null)
}

function moves({ gained, lost }: Selection & { gained: number; lost: number }): string {
  return gained + lost === 0 ? '' : ` (+${gained}, -${lost})`
}
