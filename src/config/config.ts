// The effective configuration, which resolve.ts makes from the checked file. schema.ts describes the file.

import { join } from 'node:path'
import type { AlertTarget } from '../domain/alerts.ts'
import type { Identity } from '../domain/service-words.ts'
import type { ConfigFile } from './schema.ts'

/**
 * Config is the effective configuration: all defaults applied, durations in ms, sizes in bytes, paths absolute. A
 * section that needs no such change keeps its type in the file.
 */
export interface Config {
  service: {
    /** Scheme, host, port and an optional path prefix, without a slash at the end. */
    baseUrl: string
    identity: Identity
    headerPrefix: string
    presignPath: string
    auth: ConfigFile['service']['auth'] & { keyFile: string }
  }
  inbox: {
    directory: string
    include: string[]
    exclude: string[]
    rescanMs: number
    quietPeriodMs: number
    incompleteAfterMs: number
    afterUpload: ConfigFile['inbox']['afterUpload']
    afterReject: ConfigFile['inbox']['afterReject']
    archiveDirectory: string
    quarantineDirectory: string
    receipts: ConfigFile['inbox']['receipts']
  }
  feeds: FeedConfig[]
  guards: ConfigFile['guards']
  upload: ConfigFile['upload']
  campaigns: {
    file: string
    /** True if the configuration names the file: then a missing file is an error, not "off". */
    explicit: boolean
    mode: ConfigFile['campaigns']['mode']
  }
  state: { directory: string; historyForMs: number; expectHistory: boolean }
  http: { listen: ConfigFile['http']['listen'] }
  alerts: AlertTarget[]
  log: ConfigFile['log']
}

type RuleInFile = ConfigFile['feeds'][number]

/** FeedConfig is a rule of `feeds`. */
export interface FeedConfig {
  match: string
  /** null if the feed is named by its path. */
  name: string | null
  dated: boolean
  /** null means the account that the section `service` names. */
  partnerAccount: string | null
  /** null means the encoding that the document declares. */
  encoding: NonNullable<RuleInFile['encoding']> | null
  /** Path of the element that is one posting; null means that feedsyncd finds the element itself. */
  records: string | null
  fields: RuleInFile['fields']
  expectEveryMs: number | null
}

/** historyFile returns the absolute path of the database. */
export const historyFile = ({ state }: Config) => join(state.directory, 'feedsyncd.db')
