// feedsyncd config check, print and schema show the configuration and start nothing.

import { Argument, Command } from 'commander'
import { campaignsJsonSchema } from '../campaigns/for-cli.ts'
import { configAdvice } from '../config/advice.ts'
import { findConfig, loadConfig } from '../config/load.ts'
import { printableConfig } from '../config/print.ts'
import { configJsonSchema } from '../config/schema.ts'
import { printable } from '../lib/printable.ts'
import { writeYaml } from '../lib/yaml.ts'
import type { Context } from '../terminal/context.ts'
import { define } from '../terminal/define.ts'

export function configCommand(context: Context): Command {
  const mistakes = 'report every mistake as file:line:column; exit 78 if there is one'
  const check = define(context, 'check', mistakes, async ({ options, show }) => {
    const file = findConfig(options.config, context.env)
    const { config, warnings } = loadConfig(file, context.env)
    const all = [...warnings, ...configAdvice(config)]
    for (const warning of all) context.err(`warning: ${printable(warning)}`)
    show({ file, ok: true, warnings: all }, () => `${file}: ok`)
  })
  const effective = 'print the effective configuration with all defaults'
  const print = define(context, 'print', effective, async ({ config, show }) => {
    const values = printableConfig(config)
    show(values, () => writeYaml(values).trimEnd())
  })
  const schema = new Command('schema')
    .description('print the JSON Schema of a file, for editors')
    .addArgument(new Argument('[file]').choices(['feedsyncd', 'campaigns']).default('feedsyncd'))
    .action(async (file: string) => {
      const found = file === 'campaigns' ? await campaignsJsonSchema() : configJsonSchema()
      context.out(JSON.stringify(found, null, 2))
    })
  return new Command('config')
    .description('check, print or describe the configuration')
    .addCommand(check)
    .addCommand(print)
    .addCommand(schema)
}
