// feedsyncd check: reads files offline, with the configured mapping and guards where there is a configuration, and
// beside the history where there is one.

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import type { FileReport } from '../app/file-report.ts'
import { checkFiles } from '../app/queries.ts'
import { findConfig } from '../config/load.ts'
import { EXIT } from '../lib/errors.ts'
import { isPacked } from '../lib/packing.ts'
import { formatBytes } from '../lib/units.ts'
import { type Context, outJson, printError } from './context.ts'
import { define } from './define.ts'
import { columnsOf, middleCut, printable, styled } from './render.ts'

const TEXT = 'check files offline, and whether a guard would hold them; exit 0 all ok, 3 any not'
const HELD = 'would be held'
const COLOUR = { ok: 'green', incomplete: 'yellow', broken: 'red', [HELD]: 'yellow' } as const
/** Of the line with a mistake: characters before it, and bytes that hold them in any encoding. */
const BEFORE = 50
const BYTES = 4 * BEFORE
const COLUMNS = 80
const LONG_PATH = 32

export function checkCommand(context: Context): Command {
  return define<{ feed?: string }>(context, 'check', TEXT, async (call, paths: string[]) => {
    const { config: flag, feed = null, json } = call.options
    // A configuration that was named must be there; without one, records and fields are detected.
    const isNamed = flag !== undefined || context.env.FEEDSYNCD_CONFIG !== undefined
    const isThere = isNamed || existsSync(findConfig(flag, context.env))
    const files: FileReport[] = []
    let missing = 0
    for await (const report of checkFiles(paths, isThere ? call.config : null, feed)) {
      const { path } = report
      files.push(report)
      if (isMissing(path)) {
        missing += 1
        printError(context, `check ${path}: there is no such file`, 'check the path')
      } else if (!json) context.out(fileText(report, context.terminal))
    }
    if (json) outJson(context, { files })
    else if (files.length > 1) context.out(summary(files))
    const isOk = files.every((file) => judgement(file) === 'ok')
    context.exit(missing > 0 ? EXIT.usage : isOk ? EXIT.ok : EXIT.notAllOk)
  })
    .argument('<file...>', 'the files')
    .option('--feed <name>', 'the feed that they are compared with (else: by the rules)')
}

function judgement({ held, verdict }: FileReport): keyof typeof COLOUR {
  return held === null ? verdict : HELD
}

function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

function fileText(file: FileReport, terminal: boolean): string {
  const judged = judgement(file)
  const start = `${printable(file.path)}: ${styled(COLOUR[judged], judged, terminal)}: `
  if (file.verdict !== 'ok') {
    const place = file.line === null ? '' : `line ${file.line}, column ${file.column}: `
    return start + place + printable(file.reason ?? '') + excerpt(file)
  }
  const campaigns = Object.keys(file.externalCampaignIds).length
  const facts = [
    counted(file.postings ?? 0, 'posting') + (file.records === null ? '' : ` at ${file.records}`),
    ...(campaigns > 0 ? [counted(campaigns, 'campaign id')] : []),
    ...(file.requisitionIds > 0 ? [counted(file.requisitionIds, 'requisition id')] : []),
    formatBytes(file.bytes ?? 0),
    file.encoding ?? '',
  ]
  const warnings = file.warnings.map((warning) => `\n  warning: ${printable(warning)}`)
  const fields = (file.postings ?? 0) > 0 ? fieldsText(file) : ''
  const why = file.held === null ? '' : `${printable(file.held)}\n  `
  return start + why + printable(facts.join(', ')) + fields + warnings.join('')
}

/** Which path was taken for each field, so that a person sees at once what was not found. */
function fieldsText({ fields }: FileReport): string {
  const found = Object.entries(fields).flatMap(([field, path]) =>
    path === null ? [] : [path === field ? field : `${field} (${shownPath(path)})`],
  )
  const missing = Object.entries(fields).flatMap(([field, path]) => (path === null ? field : []))
  return listed('found', found) + listed('not found', missing)
}

/** The end of a long path tells more than its beginning: as many steps as are short. */
function shownPath(path: string): string {
  let end = path
  while (end.length > LONG_PATH && end.includes('/')) end = end.slice(end.indexOf('/') + 1)
  return middleCut(printable(end === path ? path : `.../${end}`), COLUMNS / 2)
}

/** In lines that fit into a terminal. */
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
  return `${files.length} files: ${counts.map(([judged, of]) => `${of.length} ${judged}`).join(', ')}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** The line around a mistake, and a mark below it. */
function excerpt({ encoding, offset, path }: FileReport): string {
  if (offset === null || isPacked(path)) return ''
  const from = Math.max(0, offset - BYTES)
  try {
    const bytes = Buffer.alloc(2 * BYTES)
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
    const [shown, rest] = [printable(before.slice(-BEFORE)), printable(after.slice(0, BEFORE / 2))]
    return `\n  ${shown}${rest}\n  ${' '.repeat(columnsOf(shown))}^`
  } catch {
    // It was read a moment ago: who removed it meanwhile has the place all the same.
    return ''
  }
}
