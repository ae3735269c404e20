// Makes the effective configuration of a checked file: paths absolute, choices as unions. Reads no
// file itself; that the named ones exist is for those to say who use them.

import { join, resolve } from 'node:path'
import type { FieldPaths } from '../feed/port.ts'
import { keepAddress } from '../lib/redact.ts'
import { Secret } from '../lib/secret.ts'
import type { Alert, Config, FeedConfig, Identity, Listen } from './config.ts'
import { parseListen } from './listen.ts'
import type { ConfigFile } from './schema.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** `base` is the folder of the configuration file. */
export function resolveConfig(file: ConfigFile, base: string, env: Environment): Config {
  const absolute = (path: string) => resolve(base, path)
  const { service, inbox, upload, campaigns, state } = file
  return {
    service: {
      baseUrl: new URL(service.baseUrl).href.replace(/\/+$/, ''),
      identity: identity(service),
      headerPrefix: service.headerPrefix,
      presignPath: service.presignPath,
      auth: {
        ...service.auth,
        keyFile: absolute(service.auth.keyFile ?? defaultKeyFile(env)),
      },
    },
    inbox: {
      directory: absolute(inbox.directory),
      include: inbox.include,
      exclude: inbox.exclude,
      watch: inbox.watch,
      rescanMs: inbox.rescan,
      quietPeriodMs: inbox.quietPeriod,
      incompleteAfterMs: inbox.incompleteAfter,
      afterUpload: inbox.afterUpload,
      afterReject: inbox.afterReject,
      archiveDirectory: absolute(inbox.archiveDirectory ?? join(state.directory, 'archive')),
      quarantineDirectory: absolute(
        inbox.quarantineDirectory ?? join(state.directory, 'quarantine'),
      ),
      receipts: inbox.receipts,
    },
    feeds: file.feeds.map((rule) => feedRule(rule, file.service.partner !== undefined)),
    guards: file.guards,
    upload,
    campaigns: {
      file: absolute(campaigns.file ?? 'campaigns.yaml'),
      explicit: campaigns.file !== undefined,
      mode: campaigns.mode,
      listField: campaigns.listField ?? null,
    },
    state: { directory: absolute(state.directory), historyForMs: state.historyFor },
    http: { listen: listen(file.http.listen, absolute) },
    alerts: file.alerts.map((alert) => ({ on: alert.on, action: action(alert, absolute) })),
    log: file.log,
  }
}

/** systemd hands credentials to the service in a folder of their own (LoadCredential=). */
function defaultKeyFile(env: Environment): string {
  const folder = env.CREDENTIALS_DIRECTORY
  return folder ? join(folder, 'service-key') : 'service.key'
}

/** The rules saw to it that there is an account or a partner. */
function identity(service: ConfigFile['service']): Identity {
  return service.partner === undefined
    ? { kind: 'account', account: service.account ?? '' }
    : {
        kind: 'partner',
        partner: service.partner,
        partnerAccount: service.partnerAccount ?? null,
      }
}

/** An account uploads for itself alone, whatever a rule names; `loadConfig` warns of it. */
function feedRule(rule: ConfigFile['feeds'][number], byPartner: boolean): FeedConfig {
  return {
    match: rule.match,
    name: rule.name ?? null,
    partnerAccount: (byPartner ? rule.partnerAccount : null) ?? null,
    records: rule.records ?? null,
    fields: given(rule.fields),
    expectEveryMs: rule.expectEvery ?? null,
  }
}

function given(fields: ConfigFile['feeds'][number]['fields']): FieldPaths {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function listen(written: string, absolute: (path: string) => string): Listen | null {
  const where = parseListen(written)
  return where?.kind === 'unix' ? { kind: 'unix', path: absolute(where.path) } : where
}

function action(
  alert: ConfigFile['alerts'][number],
  absolute: (path: string) => string,
): Alert['action'] {
  if (alert.webhook === undefined) return { kind: 'exec', command: alert.exec ?? [] }
  keepAddress(alert.webhook)
  return {
    kind: 'webhook',
    url: new Secret(alert.webhook),
    origin: new URL(alert.webhook).origin,
    secretFile: alert.secretFile === undefined ? null : absolute(alert.secretFile),
  }
}
