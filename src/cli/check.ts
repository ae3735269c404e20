// feedsyncd check reads files offline. It uses the configured mapping and guards if there is a configuration, and
// compares with the history if there is one.

import { closeSync, openSync, readSync } from 'node:fs'
import type { Command } from 'commander'
import type { FileReport } from '../app/file-report.ts'
import { checkFiles, feedsByPath } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import { isPacked } from '../domain/packing.ts'
import { EXIT } from '../lib/errors.ts'
import { printable } from '../lib/printable.ts'
import { countOf, formatBytes } from '../lib/units.ts'
import { checkNames } from '../ops/doctor/feed-names.ts'
import { type Context, outJson, readConfigIfThere } from '../terminal/context.ts'
import { define } from '../terminal/define.ts'
import { columnsOf, type Display, fitted, middleCut, styled, widthOf } from '../terminal/render.ts'

const TEXT =
  'check files offline, and say whether a guard would hold them; exit 0 all ok, 3 one is not, 1 one was not read'
const HELD = 'would be held'
const COLOUR = {
  ok: 'green',
  incomplete: 'yellow',
  broken: 'red',
  unreadable: 'red',
  [HELD]: 'yellow',
} as const
/** Characters that an excerpt shows before a mistake. */
const CHARACTERS_BEFORE = 50
/** Number of bytes that hold CHARACTERS_BEFORE characters in any encoding. */
const BYTES_BEFORE = 4 * CHARACTERS_BEFORE
const COLUMNS = 80
/** Longest path of a field that is shown whole, in characters. */
const LONGEST_PATH = 32

export function checkCommand(context: Context): Command {
  return define<{ feed?: string }>(context, 'check', TEXT, async (call, paths: string[]) => {
    const { config: flag, feed = null, json } = call.options
    const config = readConfigIfThere(context, flag)
    const files: FileReport[] = []
    for await (const report of checkFiles(paths, config, feed)) {
      files.push(report)
      if (!json) context.out(fitted(fileText(report, context), widthOf(context)))
    }
    if (json) outJson(context, { files })
    else if (files.length > 1)
      context.out(
        summary(files) +
          alikeText(
            files.map(({ path }) => path),
            config,
          ),
      )
    const isRead = files.every(({ verdict }) => verdict !== 'unreadable')
    const isOk = files.every((file) => judgement(file) === 'ok')
    context.exit(isRead ? (isOk ? EXIT.ok : EXIT.notAllOk) : EXIT.failed)
  })
    .argument('<file...>', 'the files to check')
    .option('--feed <name>', 'compare with this feed (default: by the rules)')
}

function judgement({ held, verdict }: FileReport): keyof typeof COLOUR {
  return held === null ? verdict : HELD
}

function fileText(file: FileReport, display: Display): string {
  const judged: keyof typeof COLOUR = judgement(file)
  if (judged === 'unreadable') {
    const word = styled(COLOUR[judged], 'cannot be read', display)
    return `${printable(file.path)}: ${word}: ${printable(file.reason ?? 'for an unknown reason')}`
  }
  const start = `${printable(file.path)}: ${styled(COLOUR[judged], judged, display)}: `
  if (file.verdict !== 'ok') {
    const place = file.line === null ? '' : `line ${file.line}, column ${file.column}: `
    return start + place + printable(file.reason ?? '') + excerpt(file)
  }
  const campaigns = Object.keys(file.externalCampaignIds).length
  const facts = [
    countOf(file.postings ?? 0, 'posting') + (file.records === null ? '' : ` at ${file.records}`),
    ...(campaigns > 0 ? [countOf(campaigns, 'campaign id')] : []),
    ...(file.requisitionIds > 0 ? [countOf(file.requisitionIds, 'requisition id')] : []),
    formatBytes(file.bytes ?? 0),
    file.encoding ?? '',
  ]
  const warnings = file.warnings.map((warning) => `\n  warning: ${printable(warning)}`)
  const runnerUp = file.runnerUp === null ? '' : `\n  ${printable(runnerUpText(file.runnerUp))}`
  const fields = (file.postings ?? 0) > 0 ? fieldsText(file) : ''
  const why = file.held === null ? '' : `${printable(file.held)}\n  `
  return start + why + printable(facts.join(', ')) + runnerUp + fields + warnings.join('')
}

function runnerUpText({ postings, records }: NonNullable<FileReport['runnerUp']>): string {
  const count = postings === null ? '' : ` (${postings})`
  return `also possible: ${records}${count}, name it in records`
}

/** fieldsText returns the path of each field that was found, and the names of the fields that were not found. */
function fieldsText({ fields }: FileReport): string {
  const found = Object.entries(fields).flatMap(([field, path]) =>
    path === null ? [] : [path === field ? field : `${field} (${shownPath(path)})`],
  )
  const missing = Object.entries(fields).flatMap(([field, path]) => (path === null ? field : []))
  return listed('found', found) + listed('not found', missing)
}

/** shownPath shortens a long path. It keeps the last steps, because they say more than the first ones. */
function shownPath(path: string): string {
  let end = path
  while (end.length > LONGEST_PATH && end.includes('/')) end = end.slice(end.indexOf('/') + 1)
  return middleCut(printable(end === path ? path : `.../${end}`), COLUMNS / 2)
}

/** listed returns the words as a list after `what`, in lines of at most 80 columns; empty if there are no words. */
function listed(what: string, words: readonly string[]): string {
  let line = `\n  ${what}:`
  let text = ''
  for (const [i, word] of words.entries()) {
    const next = ` ${word}${i < words.length - 1 ? ',' : ''}`
    if (columnsOf(line) + columnsOf(next) > COLUMNS) {
      text += line
      line = '\n   '
    }
    line += next
  }
  return words.length === 0 ? '' : text + line
}

function summary(files: readonly FileReport[]): string {
  const counts = [...Map.groupBy(files, judgement)]
  return `${countOf(files.length)} files: ${counts.map(([judged, of]) => `${countOf(of.length)} ${judged}`).join(', ')}`
}

/** alikeText returns a warning and the rule to write if names of these files look alike; else an empty text. */
function alikeText(paths: readonly string[], config: Config | null): string {
  const { fix, says, verdict } = checkNames(feedsByPath(paths, config))
  return verdict === 'ok' ? '' : `\n${printable(`warning: ${says}; ${fix}`)}`
}

/** excerpt returns the part of the line around the mistake, with a mark below it; empty if it cannot be shown. */
function excerpt({ encoding, offset, path }: FileReport): string {
  if (offset === null || isPacked(path)) return ''
  const from = Math.max(0, offset - BYTES_BEFORE)
  try {
    const bytes = Buffer.alloc(2 * BYTES_BEFORE)
    const file = openSync(path, 'r')
    const length = readSync(file, bytes, 0, bytes.length, from)
    closeSync(file)
    const decoder = new TextDecoder(encoding ?? 'UTF-8')
    const before =
      decoder
        .decode(bytes.subarray(0, offset - from))
        .split(/[\r\n]/)
        .at(-1) ?? ''
    const after = decoder.decode(bytes.subarray(offset - from, length)).split(/[\r\n]/)[0] ?? ''
    const shown = printable(before.slice(-CHARACTERS_BEFORE))
    const rest = printable(after.slice(0, CHARACTERS_BEFORE / 2))
    return `\n  ${shown}${rest}\n  ${' '.repeat(columnsOf(shown))}^`
  } catch {
    // Somebody can have removed the file after the check. The answer still has line and column.
    return ''
  }
}
