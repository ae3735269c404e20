// Makes the effective configuration of a checked file: paths absolute, choices as unions. Reads no
// file itself; that the named ones exist is for those to say who use them.

import { join, resolve } from 'node:path'
import { registerSecretAddress, Secret } from '../lib/secrets.ts'
import type { AlertTarget } from '../ops/port.ts'
import type { Identity } from '../service/port.ts'
import type { ConfigFile } from './schema.ts'

/** `base` is the folder of the configuration file. */
export function resolveConfig(file: ConfigFile, base: string, env: NodeJS.ProcessEnv) {
  const absolute = (path: string) => resolve(base, path)
  const { service, inbox, campaigns, state } = file
  const { listen } = file.http
  const inState = (name: string) => join(state.directory, name)
  return {
    service: {
      /** Scheme, host, port and an optional path prefix, without a slash at the end. */
      baseUrl: new URL(service.baseUrl).href.replace(/\/+$/, ''),
      identity: identity(service),
      headerPrefix: service.headerPrefix,
      presignPath: service.presignPath,
      auth: { ...service.auth, keyFile: absolute(service.auth.keyFile ?? defaultKeyFile(env)) },
    },
    inbox: {
      directory: absolute(inbox.directory),
      include: inbox.include,
      exclude: inbox.exclude,
      rescanMs: inbox.rescan,
      quietPeriodMs: inbox.quietPeriod,
      incompleteAfterMs: inbox.incompleteAfter,
      afterUpload: inbox.afterUpload,
      afterReject: inbox.afterReject,
      archiveDirectory: absolute(inbox.archiveDirectory ?? inState('archive')),
      quarantineDirectory: absolute(inbox.quarantineDirectory ?? inState('quarantine')),
      receipts: inbox.receipts,
    },
    feeds: file.feeds.map(({ name, partnerAccount, encoding, records, expectEvery, ...rule }) => ({
      ...rule,
      /** null: the feed is named by its path. */
      name: name ?? null,
      /** An account uploads for itself alone, whatever a rule names; `loadConfig` warns of it. */
      partnerAccount: (service.partner === undefined ? null : partnerAccount) ?? null,
      /** null: as they declare. */
      encoding: encoding ?? null,
      /** null: detected. */
      records: records ?? null,
      expectEveryMs: expectEvery ?? null,
    })),
    guards: file.guards,
    upload: file.upload,
    campaigns: {
      file: absolute(campaigns.file ?? 'campaigns.yaml'),
      /** True when the file was named: then its absence is an error, and not "off". */
      explicit: campaigns.file !== undefined,
      mode: campaigns.mode,
    },
    state: {
      directory: absolute(state.directory),
      historyForMs: state.historyFor,
      expectHistory: state.expectHistory,
    },
    http: { listen: listen?.kind === 'unix' ? { ...listen, path: absolute(listen.path) } : listen },
    alerts: file.alerts.map((alert) => ({ on: alert.on, action: action(alert, absolute) })),
    log: file.log,
  }
}

/** systemd hands credentials to the service in a folder of their own (LoadCredential=). */
function defaultKeyFile(env: NodeJS.ProcessEnv): string {
  const folder = env.CREDENTIALS_DIRECTORY
  return folder ? join(folder, 'service-key') : 'service.key'
}

/** The rules saw to it that there is an account or a partner. */
function identity({ account = '', partner, partnerAccount }: ConfigFile['service']): Identity {
  return partner === undefined ? { account } : { partner, partnerAccount: partnerAccount ?? null }
}

function action(
  { exec = [], secretFile, webhook }: ConfigFile['alerts'][number],
  absolute: (path: string) => string,
): AlertTarget['action'] {
  if (webhook === undefined) return { kind: 'exec', command: exec }
  registerSecretAddress(webhook)
  return {
    kind: 'webhook',
    url: new Secret(webhook),
    origin: new URL(webhook).origin,
    secretFile: secretFile === undefined ? null : absolute(secretFile),
  }
}
