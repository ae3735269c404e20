// Writes feedsyncd(1) from the command table itself, so that the page is always complete.

import type { Command } from 'commander'
import { EXIT } from '../../src/lib/errors.ts'
import { document, entry, heading, page, paragraph, subheading } from './roff.ts'

const MEANINGS: Record<keyof typeof EXIT, string> = {
  ok: 'success',
  failed: 'failed; the message says why, and what to try',
  changesPending: 'changes are pending (campaigns plan)',
  notAllOk: 'something is rejected, held, blocked or unknown',
  credentials: 'the service rejects the credentials',
  usage: 'a wrong command line',
  temporary: 'temporary: work is pending, or another process is running',
  config: 'the configuration is wrong or missing; nothing was done',
  interrupted: 'ended by SIGINT',
  terminated: 'ended by SIGTERM',
}

const FILES: [string, string][] = [
  ['/etc/feedsyncd/feedsyncd.yaml', 'the configuration, see feedsyncd.yaml(5)'],
  ['/etc/feedsyncd/service.key', 'the secret or PEM key; under systemd only root reads it'],
  ['/etc/feedsyncd/campaigns.yaml', 'the desired campaigns, if there are any'],
  ['/var/lib/feedsyncd/', 'the history (feedsyncd.db) and the private copies of feeds (spool/)'],
  ['/usr/share/doc/feedsyncd/', 'the runbook, examples and the bill of materials'],
]

const ENVIRONMENT: [string, string][] = [
  ['FEEDSYNCD_CONFIG', 'the configuration, if --config does not name it'],
  [
    'CREDENTIALS_DIRECTORY',
    "the folder for the key (service-key), from systemd and the unit's LoadCredential=",
  ],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'the proxy, and the hosts without a proxy'],
  ['NODE_EXTRA_CA_CERTS', 'a file with further certificate authorities, in PEM form'],
  ['NO_COLOR', 'no colour on a terminal'],
]

const SIGNALS: [string, string][] = [
  ['SIGTERM, SIGINT', 'stop: running uploads have 30 s to finish. A second signal aborts them'],
  ['SIGHUP', 'ignored by run: the configuration is read at the start'],
]

/** `day`: yyyy-mm-dd. */
export function commandsPage(program: Command, version: string, day: string): string {
  return document([
    page('FEEDSYNCD', 1, day, `feedsyncd ${version}`, 'User Commands'),
    heading('Name'),
    paragraph('feedsyncd - delivers XML job feeds from a folder to a sponsorship service'),
    heading('Synopsis'),
    paragraph('feedsyncd [--config FILE] COMMAND [OPTIONS] [ARGUMENTS]'),
    heading('Description'),
    paragraph(program.description()),
    paragraph(
      'The answer goes to standard output, everything else to standard error. Options of all commands:',
    ),
    ...program.options.map(({ flags, description }) => entry(flags, description)),
    heading('Commands'),
    ...leaves(program).flatMap(commandText),
    heading('Exit status'),
    ...Object.entries(EXIT).map(([name, code]) =>
      entry(String(code), MEANINGS[name as keyof typeof EXIT]),
    ),
    paragraph('Any other code is a failure.'),
    heading('Signals'),
    ...SIGNALS.map(([name, text]) => entry(name, text)),
    heading('Environment'),
    ...ENVIRONMENT.map(([name, text]) => entry(name, text)),
    heading('Files'),
    ...FILES.map(([name, text]) => entry(name, text)),
    heading('See also'),
    paragraph('feedsyncd.yaml(5), systemctl(1), journalctl(1)'),
  ])
}

/** leaves returns the commands that do something, each with its full path of words. */
function leaves(command: Command, path: string[] = []): { path: string[]; command: Command }[] {
  return command.commands.flatMap((inner) => {
    const at = [...path, inner.name()]
    const isGroup = inner.commands.length > 0 && inner.options.length === 0
    return [...(isGroup ? [] : [{ path: at, command: inner }]), ...leaves(inner, at)]
  })
}

function commandText({ path, command }: { path: string[]; command: Command }): string[] {
  const words = command.registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? '...' : ''}`
    return one.required ? `<${name}>` : `[${name}]`
  })
  const explained = command.registeredArguments.filter((one) => one.description !== '')
  return [
    subheading([...path, ...words].join(' ')),
    paragraph(command.description()),
    ...explained.map((one) => entry(`<${one.name()}>`, one.description)),
    ...command.options.map(({ flags, description, argChoices, defaultValue }) => {
      const values = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`
      const usual =
        typeof defaultValue === 'string' || typeof defaultValue === 'number'
          ? ` (default ${defaultValue})`
          : ''
      return entry(flags, `${description}${values}${usual}`)
    }),
  ]
}
