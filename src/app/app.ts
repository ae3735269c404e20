// The daemon's composition, from top to bottom: the state directory, the network, the folder, a feed's way
// through them, and what people see of it. Nothing else builds adapters for it.

import type { Config } from '../config/config.ts'
import { Daemon } from '../daemon/daemon.ts'
import { followPatience, noteExpected, recover } from '../daemon/recovery.ts'
import type { History, Version } from '../history/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Conditions } from '../lib/conditions.ts'
import { FeedsyncError, messageOf } from '../lib/errors.ts'
import type { Log, LogOptions } from '../lib/log.ts'
import type { CampaignRun, CommandLine } from '../ops/port.ts'
import type { Endpoint } from '../ops/web/endpoint.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { Failure } from '../upload/port.ts'
import { watchConditions } from './conditions.ts'
import { openFeeds } from './feeds.ts'
import { openInbox } from './inbox.ts'
import { openNetwork } from './network.ts'
import { openOperations } from './operations.ts'
import { campaignScheduleOf } from './reconcile.ts'
import type { RunningUploads } from './running-uploads.ts'
import { LiveSettings } from './settings.ts'
import { openStorage } from './storage.ts'

export interface AppOptions {
  clock: Clock
  env: Record<string, string | undefined>
  /** Of a daemon: absolute path of its configuration. */
  configFile?: string | null
  /** How a person calls a command, for the page and the alerts. */
  commandLine?: CommandLine
  /** Takes the lines of the log; without it they go to stdout. */
  log?: LogOptions['destination']
  /** Says to a person at the terminal what happened, and what to do. */
  notifyOperator: (message: string, hint: string | null) => void
  /** Hears of every new state of a version. */
  onMove?: (version: Version) => void
}

export interface App extends AsyncDisposable {
  readonly daemon: Daemon
  readonly history: History
  readonly pipeline: Pipeline
  readonly log: Log
  readonly conditions: Conditions
  readonly uploads: RunningUploads
  /** Why the credentials were refused, if they were. */
  refusal(): Failure | null
  /** How the last look at the campaigns ended; null: there was none, or there is no file. */
  campaigns(): CampaignRun | null
  /** Opens `http.listen`, where there is one. Throws `FeedsyncError` when it cannot be used. */
  serve(): Promise<Endpoint | null>
  /** SIGHUP: takes up another configuration, or none of it; refused credentials are tried again. */
  reload(read: () => Reread): void
}

/** The configuration file, read again: all of it, or its mistakes. `hint`: null where `config check` names them. */
export type Reread =
  | { kind: 'ok'; config: Config }
  | { kind: 'problems'; lines: string[]; hint: string | null }

/**
 * Builds everything that delivers, under the lock of the state directory. Throws `FeedsyncError` when
 * another process holds it, the key cannot be read, or the state cannot be written.
 */
export async function openApp(config: Config, options: AppOptions): Promise<App> {
  await using owned = new AsyncDisposableStack()
  const { clock, env, notifyOperator } = options
  const { directory: stateDirectory } = config.state
  const settings = new LiveSettings(config)
  const storage = await openStorage(config, options, owned)
  const { conditions, history, log, metrics, spool, uploads } = storage
  const network = openNetwork(config, settings, storage, options, owned)
  const folder = openInbox(config, storage, options, owned)
  const campaigns = campaignScheduleOf(settings, { clock, env, log, notifyOperator, history })
  const feeds = openFeeds(settings, storage, network, folder, campaigns, options)
  const operations = openOperations(settings, storage, network, feeds, campaigns, options)
  const { alerts, supervisor } = operations
  const { postDelivery, deliveries, intake, ledger, pipeline, upkeep } = feeds
  const daemon = new Daemon({
    ...{ alerts, clock, conditions, deliveries, history, inbox: folder.inbox, intake, log },
    postDelivery,
    ...{ campaigns, settings, supervisor, upkeep },
    watch: (signal) => watchConditions({ clock, stateDirectory }, conditions, alerts, signal),
  })
  conditions.onChange(() => {
    alerts.moved()
    daemon.conditionsChanged()
    supervisor.changed()
  })
  const { ruleFor } = settings
  const recovery = { postDelivery, clock, history, ledger, log, ruleFor, spool }
  await recover(recovery, config)

  const replace = (read: Reread): Reread => {
    if (read.kind === 'problems') return read
    try {
      // What can fail comes first: then all of it is taken, or nothing.
      const { alerts: targets, inbox } = read.config
      history.atomically(() => followPatience(history, inbox.incompleteAfterMs))
      alerts.retarget(targets)
    } catch (error) {
      const hint = error instanceof FeedsyncError ? error.hint : null
      return { kind: 'problems', lines: [messageOf(error)], hint }
    }
    const waiting = settings.replace(read.config)
    void noteExpected(recovery, settings.current.feeds)
    log.level = settings.current.log.level
    log.info({ event: 'config.reloaded', waiting }, 'configuration reloaded')
    const message = `restart needed for ${waiting.join(', ')}`
    if (waiting.length === 0) conditions.clear('restart-needed')
    else conditions.set('restart-needed', { message, hint: 'systemctl restart feedsyncd' })
    return read
  }
  const disposal = owned.move()
  return {
    ...{ conditions, daemon, history, pipeline, log, uploads },
    campaigns: () => campaigns.last,
    refusal: () => deliveries.refusal,
    serve: () => operations.serve(() => daemon.pulse()),
    reload: (read) => {
      supervisor.reloading()
      const taken = replace(read())
      if (taken.kind === 'ok') conditions.clear('reload-failed')
      else {
        log.error(
          { event: 'config.not-reloaded', problems: taken.lines },
          'configuration not reloaded; the one in force stays',
        )
        const message = `configuration not reloaded: ${taken.lines[0]}`
        const hint = taken.hint ?? 'feedsyncd config check'
        conditions.set('reload-failed', { message, hint })
      }
      metrics?.reloaded(taken.kind === 'ok', clock.now())
      daemon.wake()
      supervisor.reloaded()
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}
