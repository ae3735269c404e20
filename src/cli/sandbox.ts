// feedsyncd sandbox: the service and its storage, until interrupted.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { SECOND } from '../lib/clock.ts'
import { type Context, outJson } from './context.ts'
import { factsText } from './render.ts'
import { onSignals } from './signals.ts'

interface Options {
  port: number
  dir: string
  json?: boolean
  faults?: string
}

export function sandboxCommand(context: Context): Command {
  return new Command('sandbox')
    .description('the service and its storage for tests and trials')
    .option('--port <n>', 'port of the service; storage takes any free one', portOf, 0)
    .option(
      '--dir <directory>',
      'where objects, the key and an example configuration go',
      './sandbox',
    )
    .option('--faults <file>', 'a JSON list of faults to begin with')
    .option('--json', 'the addresses as one JSON line')
    .action(async (options: Options) => {
      const directory = resolve(options.dir)
      const { startSandboxIn } = await import('../sandbox/home.ts')
      await using sandbox = await startSandboxIn(directory, {
        port: options.port,
        clock: context.clock,
        faults: options.faults === undefined ? null : readFileSync(options.faults, 'utf8'),
      })
      using signals = onSignals({ ...context, drainMs: SECOND })
      const { url, storageUrl, configFile, objectsDirectory: objects } = sandbox
      if (options.json) outJson(context, { url, storageUrl, configFile, objects })
      else {
        const places = { service: url, storage: storageUrl, objects, configuration: configFile }
        context.out(factsText(Object.entries(places)))
        context.out(`\ntry: feedsyncd run --config ${configFile}`)
      }
      if (!signals.stop.aborted) await once(signals.stop, 'abort')
    })
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new InvalidArgumentError('expected a port between 0 and 65535.')
  }
  return port
}
