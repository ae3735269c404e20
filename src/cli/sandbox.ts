// feedsyncd sandbox runs the service and its storage until it is interrupted.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { commandFor } from '../domain/command.ts'
import { MINUTE, SECOND } from '../lib/clock.ts'
import { DURATION_EXPECTED, parseDuration } from '../lib/units.ts'
import { commandLineHere } from '../terminal/command-line.ts'
import { type Context, outJson } from '../terminal/context.ts'
import { numberOf } from '../terminal/define.ts'
import { factsText } from '../terminal/render.ts'
import { onSignals } from '../terminal/signals.ts'

interface Options {
  dir: string
  host: string
  port: number
  storagePort: number
  basePath: string
  reset?: boolean
  key?: string
  keyFile?: string
  readyFile?: string
  seed: number
  callers?: string
  fields?: string
  faults?: string
  successStatus: string
  formLifetime: number
  pageSize?: number
  knobs?: string
  json?: boolean
}

interface Signing {
  dir: string
  data?: string
  account?: string
  partner?: string | true
  partnerAccount?: string
}

export function sandboxCommand(context: Context): Command {
  return new Command('sandbox')
    .description('run the service and its storage, for tests and trials')
    .option('--dir <directory>', 'directory for its data, its key and a configuration', './sandbox')
    .option('--host <address>', 'listen on this address', '127.0.0.1')
    .option(
      '--port <n>',
      'port of the service; 0: the port of the last run, or a free port',
      portOf,
      0,
    )
    .option('--storage-port <n>', 'port of the storage; 0: as for --port', portOf, 0)
    .option('--base-path <path>', 'path of the base address', '/api')
    .option('--reset', 'begin with an empty sandbox, with the same key and ports')
    .addOption(
      new Option('--key <text>', 'the key of the account and the partner').conflicts([
        'keyFile',
        'callers',
      ]),
    )
    .addOption(
      new Option(
        '--key-file <file>',
        'a file with the key of the account and the partner',
      ).conflicts(['key', 'callers']),
    )
    .option(
      '--seed <n>',
      'decides the keys of the objects and the credentials of the forms',
      numberOf('expected a whole number'),
      1,
    )
    .option('--ready-file <file>', 'write this file when the sandbox listens')
    .option('--callers <file>', 'a JSON list of accounts and partners with their keys')
    .option('--fields <file>', 'a JSON mapping of fields, for feeds with unusual element names')
    .option('--faults <file>', 'a JSON list of faults that apply from the start')
    .addOption(
      new Option('--success-status <status>', 'success_action_status of the forms')
        .choices(['200', '201', '204'])
        .default('201'),
    )
    .addOption(
      new Option('--form-lifetime <duration>', 'how long a form is valid')
        .argParser(durationOf)
        .default(15 * MINUTE, '15m'),
    )
    .option(
      '--page-size <n>',
      'largest number of campaigns on a page (default: 100)',
      numberOf('expected a whole number'),
    )
    .option('--knobs <file>', 'a JSON object with values that the specification leaves open')
    .option('--json', 'print the addresses as one JSON line')
    .action(async (options: Options) => {
      const { dir, host, port, storagePort, basePath, callers, successStatus, seed } = options
      const pathOf = (file: string | undefined) => (file === undefined ? null : resolve(file))
      const textOf = (file: string | undefined) =>
        file === undefined ? null : readFileSync(file, 'utf8')
      const { startSandboxIn } = await import('../sandbox/home.ts')
      await using sandbox = await startSandboxIn(resolve(dir), {
        ...{ host, port, storagePort, basePath, successStatus, seed, clock: context.clock },
        ...{ reset: options.reset ?? false, key: options.key ?? null },
        ...{ keyFile: pathOf(options.keyFile), readyFile: pathOf(options.readyFile) },
        formLifetimeMs: options.formLifetime,
        ...(options.pageSize !== undefined && { knobs: { pageSize: options.pageSize } }),
        knobsText: textOf(options.knobs),
        callersFile: callers ?? null,
        mapping: textOf(options.fields),
        faults: textOf(options.faults),
      })
      using signals = onSignals({ ...context, drainMs: SECOND })
      if (options.json) outJson(context, sandbox.facts)
      else {
        const { url, storageUrl, account, partner, keyFile, configFile, objects } = sandbox.facts
        const page = new URL(url).origin
        const places = { service: url, storage: storageUrl, page, objects }
        const facts = { ...places, configuration: configFile, account, partner }
        context.out(factsText(Object.entries({ ...facts, 'key file': keyFile })))
        context.out(`\ntry: ${commandLineHere(context.env, configFile)(commandFor('run'))}`)
      }
      if (!signals.stop.aborted) await once(signals.stop, 'abort')
    })
    .addCommand(signCommand(context))
}

function signCommand(context: Context): Command {
  const command: Command = new Command('sign')
    .description('sign a request to the sandbox, and print it for curl -K -')
    .argument('<method>', 'HTTP method, such as GET')
    .argument('<path>', 'path below the base address, with the query')
    .option('--data <text>', 'body of the request, or @FILE')
    .option('--account <id>', 'sign as this account')
    .option('--partner [name]', 'sign as this partner, or as the first one')
    .option('--partner-account <id>', 'sign for this account of the partner')
    .action(async (method: string, path: string) => {
      const options = command.optsWithGlobals<Signing>()
      const { dir, data, account = null, partner, partnerAccount = null } = options
      const { curlConfiguration } = await import('../sandbox/sign.ts')
      const body =
        data === undefined
          ? null
          : data.startsWith('@')
            ? readFileSync(data.slice(1))
            : Buffer.from(data)
      const asked = { method: method.toUpperCase(), path, body, account, partnerAccount }
      context.out(
        curlConfiguration(resolve(dir), {
          ...asked,
          asPartner: partner === true,
          partner: typeof partner === 'string' ? partner : null,
          now: context.clock.now(),
        }),
      )
    })
  return command
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new InvalidArgumentError('expected a port between 0 and 65535.')
  }
  return port
}

function durationOf(text: string): number {
  const ms = parseDuration(text)
  if (ms === null || ms === 0) throw new InvalidArgumentError(`${DURATION_EXPECTED}.`)
  return ms
}
