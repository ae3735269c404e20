// feedsyncd diff says which postings differ between two versions of a feed, or two files.

import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import {
  compareSides,
  type DiffPair,
  type DiffResult,
  type DiffSide,
  existingHistory,
  feedPair,
  fileSide,
  summaryOfComparison,
  versionPair,
  versionSide,
} from '../app/compared-sides.ts'
import { historyFile } from '../config/config.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import type { Difference, Group } from '../domain/difference.ts'
import { openHistoryReader } from '../history/tables.ts'
import { EXIT } from '../lib/errors.ts'
import { printable, printableJson } from '../lib/printable.ts'
import { countOf } from '../lib/units.ts'
import { DIFFERENCE_KINDS } from '../ops/difference-text.ts'
import { type Context, readConfigIfThere } from '../terminal/context.ts'
import { type Call, define, unknownName, usageError } from '../terminal/define.ts'
import { fitted, widthOf } from '../terminal/render.ts'
import { differenceText, postingTable } from './difference-view.ts'

interface Options {
  all?: boolean
  feed?: string
}

type Diff = Call<Options>

const TEXT =
  'show which postings differ between two versions or files, or a feed and the service; exit 0 equal, 2 different'
/** Postings of each kind that are shown without --all. */
const MOST = 20
/** Largest number of rows in one table. More rows become further tables, each with its own column widths. */
const ROWS = 1_000
/** Number of characters of JSON that are written at once. */
const PORTION = 65_536

export function diffCommand(context: Context): Command {
  return define<Options>(context, 'diff', TEXT, async (call, first: string, second?: string) => {
    const { all = false, json = false } = call.options
    const { newer, warning, older } =
      second === undefined ? pairOf(call, first) : sidesOf(call, [first, second])
    if (warning !== null) context.err(printable(warning))
    using comparison = await compareSides(
      older,
      newer,
      all || json ? Number.POSITIVE_INFINITY : MOST,
    )
    if (json) await writeJson(context, { older, newer, comparison })
    else await writeText(call, { older, newer, comparison })
    const { added, changed, removed } = comparison.difference.totals
    context.exit(added + changed + removed === 0 ? EXIT.ok : EXIT.changesPending)
  })
    .argument(
      '<id|feed|file>',
      'the older version or file; an id or a feed alone is compared with what is on the service',
    )
    .argument('[id|file]', 'the newer version or file')
    .option('--all', 'show every posting, not only the first 20 of each kind')
    .option('--feed <name>', 'read files by the rule of this feed (default: by their paths)')
}

/** pairOf returns the version or the feed that one argument names, beside what is on the service. */
function pairOf(call: Diff, given: string): DiffPair {
  using history = openHistoryReader({ file: historyFile(call.config) })
  if (isId(given)) return versionPair(call.config, existingHistory(history), Number(given))
  const feed = given.replace(/^feed:(?=.)/s, '')
  const pair = history && feedPair(call.config, history, feed)
  if (pair !== null) return pair
  if (existsSync(given))
    throw usageError(
      `name a second file to compare ${given} with`,
      hintWith(null, commandFor('diff --help')),
    )
  const feeds = history?.list({}).map((version) => version.feed) ?? []
  throw unknownName('feed', feed, { known: feeds, look: 'diff <what>' })
}

/** sidesOf returns the two versions or files that two arguments name. Two files need no configuration. */
function sidesOf(call: Diff, given: readonly [older: string, newer: string]): DiffPair {
  const { feed = null } = call.options
  if (!given.some(isId)) {
    const config = readConfigIfThere(call.context, call.options.config)
    const [older, newer] = given.map((path) => fileSide(config, path, feed)) as [DiffSide, DiffSide]
    return { older, newer, warning: null }
  }
  using history = openHistoryReader({ file: historyFile(call.config) })
  const side = (one: string) =>
    isId(one)
      ? versionSide(call.config, existingHistory(history), Number(one))
      : fileSide(call.config, one, feed)
  return { older: side(given[0]), newer: side(given[1]), warning: null }
}

const isId = (given: string) => /^\d+$/.test(given)

interface DiffAnswer {
  older: DiffSide
  newer: DiffSide
  comparison: DiffResult
}

async function writeText(call: Diff, { comparison, newer, older }: DiffAnswer): Promise<void> {
  const { context } = call
  const { postings, totals } = comparison.difference
  const print = (text: string) => context.out(fitted(text, widthOf(context)))
  const name = (side: DiffSide) =>
    printable(
      side.id === null
        ? side.path
        : `version ${side.id} (${side.path})${side.isOnService ? ', on the service' : ''}`,
    )
  print(`${name(older)}: ${countOf(postings.older, 'posting')}`)
  print(`${name(newer)}: ${countOf(postings.newer, 'posting')}`)
  context.out('')
  print(differenceText(summaryOfComparison(comparison), context))
  for (const kind of DIFFERENCE_KINDS) {
    const { count } = comparison[kind]
    if (count === 0) continue
    const isCut = count < totals[kind]
    context.out('')
    context.out(`${kind}${isCut ? `, the first ${count} of ${countOf(totals[kind])}` : ''}:`)
    for (const rows of portions(comparison[kind].lines(), ROWS))
      context.out(
        postingTable(
          kind,
          rows.map((row) => JSON.parse(row)),
          context,
        ),
      )
    if (isCut) {
      const [from, to] = [older, newer].map(({ id, path }) => id ?? path)
      const all = commandFor('diff <older> <newer> --all', from ?? '', to ?? '')
      context.out(`… and ${countOf(totals[kind] - count)} more: ${call.commandLine(all)}`)
    }
  }
}

function* portions<T>(all: Iterable<T>, size: number): Generator<T[], void, void> {
  let portion: T[] = []
  for (const one of all) {
    portion.push(one)
    if (portion.length < size) continue
    yield portion
    portion = []
  }
  if (portion.length > 0) yield portion
}

/** writeJson writes one line of JSON, piece by piece, because the line can be larger than the memory. */
async function writeJson(context: Context, answer: DiffAnswer): Promise<void> {
  let text = ''
  for (const piece of jsonPieces(answer)) {
    text += printableJson(piece)
    if (text.length < PORTION) continue
    await context.write(text)
    text = ''
  }
  await context.write(`${text}\n`)
}

function* jsonPieces({ comparison, newer, older }: DiffAnswer): Generator<string, void, void> {
  const { by, postings, totals } = comparison.difference
  const side = ({ id, path }: DiffSide, count: number) =>
    JSON.stringify({ id, path, postings: count })
  yield `{"schemaVersion":1,"old":${side(older, postings.older)},"new":${side(newer, postings.newer)}`
  for (const kind of ['added', 'removed', 'changed'] as const) {
    yield `,"${kind}":[`
    let separator = ''
    for (const row of comparison[kind].lines()) {
      yield separator + row
      separator = ','
    }
    yield ']'
  }
  yield `,"totals":${JSON.stringify(totals)},"by":${JSON.stringify(countsOf(by))}}`
}

function countsOf(by: Difference['by']) {
  const counts = (group: Group) =>
    Object.fromEntries(
      [...by[group]].map(([value, { added, removed }]) => [value, { added, removed }]),
    )
  return {
    externalCampaignId: counts('externalCampaignId'),
    state: counts('state'),
    city: counts('city'),
  }
}
