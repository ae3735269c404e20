// feedsyncd check: reads files offline, with the configured mapping where there is a configuration.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import type { FileReport } from '../app/file-report.ts'
import { checkFiles } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import { findConfig } from '../config/load.ts'
import { formatBytes } from '../lib/units.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { printable } from './render.ts'

interface Options {
  config?: string
  json?: boolean
}

export function checkCommand(context: Context): Command {
  return new Command('check')
    .description('check files offline, with the configured mapping; exit 0 all ok, 3 any not')
    .argument('<file...>', 'the files')
    .option('--json', 'the documented JSON')
    .action(async (paths: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const config = configIfAny(context, options.config)
      const files: FileReport[] = []
      const named = paths.map((path) => ({ source: resolve(path), shown: path }))
      for await (const report of checkFiles(named, config)) {
        if (!options.json) context.out(fileText(report))
        files.push(report)
      }
      if (options.json) outJson(context, { files })
      context.exit(files.every(({ verdict }) => verdict === 'ok') ? EXIT.ok : EXIT.notAllOk)
    })
}

/** A configuration that was named must be there; without one, records and fields are detected. */
function configIfAny(context: Context, flag: string | undefined): Config | null {
  const named = flag !== undefined || context.env.FEEDSYNCD_CONFIG !== undefined
  return named || existsSync(findConfig(flag, context.env)) ? readConfig(context, flag) : null
}

function fileText(file: FileReport): string {
  const path = printable(file.path)
  if (file.verdict !== 'ok') {
    const place = file.line === null ? '' : `line ${file.line}, column ${file.column}: `
    return `${path}: ${file.verdict}: ${place}${printable(file.reason ?? '')}`
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
  return `${path}: ok: ${printable(facts.join(', '))}${warnings.join('')}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
