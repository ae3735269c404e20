// feedsyncd config check, print, schema: the configuration without starting anything.

import { Command } from 'commander'
import { configJsonSchema } from '../config/json-schema.ts'
import { findConfig } from '../config/load.ts'
import { printableConfig } from '../config/print.ts'
import { writeYaml } from '../lib/yaml.ts'
import { type Context, outJson, readConfig } from './context.ts'

interface Options {
  config?: string
  json?: boolean
}

export function configCommand(context: Context): Command {
  const config = new Command('config').description('check, print or describe the configuration')
  config
    .command('check')
    .description('report every mistake as file:line:column; exit 78 if there is one')
    .option('--json', 'as JSON')
    .action((_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      readConfig(context, options.config)
      const file = findConfig(options.config, context.env)
      if (options.json) outJson(context, { file, ok: true })
      else context.out(`${file}: ok`)
    })
  config
    .command('print')
    .description('the effective configuration with every default')
    .option('--json', 'as JSON')
    .action((_options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const effective = printableConfig(readConfig(context, options.config))
      if (options.json) outJson(context, effective)
      else context.out(writeYaml(effective).trimEnd())
    })
  config
    .command('schema')
    .description('the JSON Schema of the file, for editors')
    .action(() => {
      context.out(JSON.stringify(configJsonSchema(), null, 2))
    })
  return config
}
