// Writes the effective configuration in the words and units of the file, for `config print`. Paths are absolute,
// defaults are written out, and the address of a webhook ends after its host.

import type { Listen } from '../lib/http-text.ts'
import { writeDuration, writeSize } from '../lib/units.ts'
import type { Config } from './config.ts'

export function printableConfig(config: Config): Record<string, unknown> {
  const { identity, baseUrl, ...service } = config.service
  const { explicit: _, ...campaigns } = config.campaigns
  const { maxRate } = config.upload
  return {
    version: 1,
    service: { baseUrl, ...written(identity), ...service },
    inbox: written(config.inbox),
    feeds: config.feeds.map(written),
    guards: config.guards,
    upload: { ...config.upload, maxRate: maxRate === null ? '' : writeSize(maxRate) },
    campaigns: written(campaigns),
    state: written(config.state),
    http: { listen: listen(config.http.listen) },
    alerts: config.alerts.map(({ on, action }) =>
      action.kind === 'exec'
        ? { on, exec: action.command }
        : written({ on, webhook: `${action.origin}/[hidden]`, secretFile: action.secretFile }),
    ),
    log: config.log,
  }
}

/** written gives durations a unit and the key of the file (`rescanMs` becomes `rescan`), and omits nulls. */
function written(values: object): Record<string, unknown> {
  const given = Object.entries(values).filter(([, value]) => value !== null)
  return Object.fromEntries(
    given.map(([key, value]) =>
      key.endsWith('Ms') ? [key.slice(0, -2), writeDuration(value)] : [key, value],
    ),
  )
}

function listen(where: Listen | null): string {
  if (where === null) return ''
  if (where.kind === 'unix') return where.path
  return where.host.includes(':') ? `[${where.host}]:${where.port}` : `${where.host}:${where.port}`
}
