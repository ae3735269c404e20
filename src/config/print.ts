// Writes the effective configuration in the words and units of the file, for `config print`. Paths
// are absolute, defaults are spelt out, and a webhook's address is shown up to its host.

import { writeDuration, writeSize } from '../lib/units.ts'
import type { Config, Identity, Listen } from './config.ts'

/** A plain object with the keys of the file, ready for YAML or JSON. */
export function printableConfig(config: Config): Record<string, unknown> {
  const { service, inbox, upload, campaigns, state } = config
  return {
    version: 1,
    service: {
      baseUrl: service.baseUrl,
      ...identity(service.identity),
      headerPrefix: service.headerPrefix,
      presignPath: service.presignPath,
      auth: service.auth,
    },
    inbox: {
      directory: inbox.directory,
      include: inbox.include,
      exclude: inbox.exclude,
      watch: inbox.watch,
      rescan: writeDuration(inbox.rescanMs),
      quietPeriod: writeDuration(inbox.quietPeriodMs),
      incompleteAfter: writeDuration(inbox.incompleteAfterMs),
      afterUpload: inbox.afterUpload,
      afterReject: inbox.afterReject,
      archiveDirectory: inbox.archiveDirectory,
      quarantineDirectory: inbox.quarantineDirectory,
      receipts: inbox.receipts,
    },
    feeds: config.feeds.map(({ expectEveryMs, ...rule }) =>
      given({
        ...rule,
        expectEvery: expectEveryMs === null ? null : writeDuration(expectEveryMs),
      }),
    ),
    guards: config.guards,
    upload: { ...upload, maxRate: upload.maxRate === null ? '' : writeSize(upload.maxRate) },
    campaigns: given({
      file: campaigns.file,
      mode: campaigns.mode,
      listField: campaigns.listField,
    }),
    state: { directory: state.directory, historyFor: writeDuration(state.historyForMs) },
    http: { listen: listen(config.http.listen) },
    alerts: config.alerts.map(({ on, action }) =>
      action.kind === 'exec'
        ? { on, exec: action.command }
        : given({ on, webhook: `${action.origin}/[hidden]`, secretFile: action.secretFile }),
    ),
    log: config.log,
  }
}

function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}

function identity(who: Identity): Record<string, unknown> {
  return who.kind === 'account'
    ? { account: who.account }
    : given({ partner: who.partner, partnerAccount: who.partnerAccount })
}

function listen(where: Listen | null): string {
  if (where === null) return ''
  if (where.kind === 'unix') return where.path
  return where.host.includes(':') ? `[${where.host}]:${where.port}` : `${where.host}:${where.port}`
}
