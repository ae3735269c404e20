// Makes the effective configuration from a checked file: absolute paths, and choices as unions. It reads no file: the
// code that uses a named file reports if it is missing.

import { join, resolve } from 'node:path'
import type { AlertTarget } from '../domain/alerts.ts'
import type { Identity } from '../domain/service-words.ts'
import { registerSecretAddress, Secret } from '../lib/secrets.ts'
import type { Config } from './config.ts'
import type { ConfigFile } from './schema.ts'

/**
 * resolveConfig makes paths absolute from `base`, the folder of the file, and finds the default key file in the
 * environment. It registers the addresses of webhooks as secrets.
 */
export function resolveConfig(file: ConfigFile, base: string, env: NodeJS.ProcessEnv): Config {
  const absolute = (path: string) => resolve(base, path)
  const { service, inbox, campaigns, state } = file
  const { listen } = file.http
  const inState = (name: string) => join(state.directory, name)
  return {
    service: {
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
      name: name ?? null,
      // Only a partner can upload for another account. `loadConfig` warns of a rule that names one without a partner.
      partnerAccount: (service.partner === undefined ? null : partnerAccount) ?? null,
      encoding: encoding ?? null,
      records: records ?? null,
      expectEveryMs: expectEvery ?? null,
    })),
    guards: file.guards,
    upload: file.upload,
    campaigns: {
      file: absolute(campaigns.file ?? 'campaigns.yaml'),
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

/** defaultKeyFile prefers the folder in which systemd gives credentials to the unit (LoadCredential=). */
function defaultKeyFile(env: NodeJS.ProcessEnv): string {
  const folder = env.CREDENTIALS_DIRECTORY
  return folder ? join(folder, 'service-key') : 'service.key'
}

/** identity returns the partner, or else the account: `brokenRules` refuses a file that names neither of them. */
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
