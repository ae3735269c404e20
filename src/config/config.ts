// The effective configuration, as the program uses it: every default applied, durations in ms, sizes
// in bytes, paths absolute. What people write is in schema.ts; this file has no behaviour.

import type { FieldPaths } from '../feed/port.ts'
import type { Secret } from '../lib/secret.ts'
import type { SignatureAlgorithm } from '../lib/signature-terms.ts'

export interface Config {
  service: {
    /** Scheme, host, port and an optional path prefix, without a slash at the end. */
    baseUrl: string
    identity: Identity
    headerPrefix: string
    presignPath: string
    auth: {
      method: 'signature' | 'apiKey'
      algorithm: SignatureAlgorithm
      keyFile: string
      stringToSign: string
    }
  }
  inbox: {
    directory: string
    include: string[]
    exclude: string[]
    watch: 'auto' | 'poll'
    rescanMs: number
    quietPeriodMs: number
    incompleteAfterMs: number
    afterUpload: 'keep' | 'archive' | 'delete'
    afterReject: 'keep' | 'quarantine'
    archiveDirectory: string
    quarantineDirectory: string
    receipts: boolean
  }
  feeds: FeedConfig[]
  guards: {
    /** 0 to 100. */
    maxDropPercent: number
    minPostings: number
    /** 0 to 100. */
    maxShrinkPercent: number
    /** 0 to 100. */
    maxReplacedPercent: number
  }
  upload: {
    concurrency: number
    keepVersions: number
    /** Bytes a second for all uploads together; null: as fast as it goes. */
    maxRate: number | null
  }
  campaigns: {
    file: string
    /** True when the file was named: then its absence is an error, and not "off". */
    explicit: boolean
    mode: 'report' | 'apply'
    /** Property that holds the array in a listing's answer; null: found automatically. */
    listField: string | null
  }
  state: { directory: string; historyForMs: number }
  http: { listen: Listen | null }
  alerts: Alert[]
  log: { level: LogLevel; format: 'auto' | 'json' | 'text' }
}

/** The configuration in force: SIGHUP replaces it as a whole, so what may change is read when it is needed. */
export interface Settings<Section extends keyof Config = keyof Config> {
  readonly current: Readonly<Pick<Config, Section>>
}

export type Identity =
  | { kind: 'account'; account: string }
  | { kind: 'partner'; partner: string; partnerAccount: string | null }

export type Listen = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string }

export interface FeedConfig {
  match: string
  /** null: the feed is named by its path. */
  name: string | null
  partnerAccount: string | null
  /** null: detected. */
  records: string | null
  fields: FieldPaths
  expectEveryMs: number | null
}

export interface Alert {
  on: AlertEvent[]
  action:
    | { kind: 'exec'; command: string[] }
    /** The address is a credential with many receivers, so only `origin` may be shown. */
    | { kind: 'webhook'; url: Secret; origin: string; secretFile: string | null }
}

export const ALERT_EVENTS = [
  ...(['rejected', 'held', 'failed', 'overdue', 'credentials', 'daemon'] as const),
  ...(['campaigns-stopped', 'campaign-waiting', 'campaign-unknown'] as const),
  ...(['campaign-vanished', 'plan-waiting'] as const),
] as const

export type AlertEvent = (typeof ALERT_EVENTS)[number]

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]
