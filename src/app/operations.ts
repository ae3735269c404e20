// What people and other programs see of the running daemon: alerts, systemd, the status page and metrics.

import { hostname } from 'node:os'
import type { CampaignSchedule } from '../campaigns/schedule.ts'
import type { Config } from '../config/config.ts'
import { AlertDesk } from '../ops/alerts/desk.ts'
import { sendAlert } from '../ops/alerts/senders.ts'
import type { MetricsSource, Pulse } from '../ops/port.ts'
import { createNotifier } from '../ops/systemd/notifier.ts'
import { createSupervisor } from '../ops/systemd/supervisor.ts'
import type { Endpoint } from '../ops/web/endpoint.ts'
import type { AppOptions } from './app.ts'
import type { Feeds } from './feeds.ts'
import type { Network } from './network.ts'
import {
  campaignsSeen,
  openCampaignMemory,
  overdueFeeds,
  statusLine,
  statusOf,
  versionOf,
} from './queries.ts'
import type { LiveSettings } from './settings.ts'
import type { Storage } from './storage.ts'

/** Events and attempts of a version that its page shows. */
const MOST_EVENTS = 200

export function openOperations(
  settings: LiveSettings,
  { conditions, history, log, metrics, uploads }: Storage,
  { gate, http, uploader }: Network,
  { deliveries, listen: onMove }: Feeds,
  campaigns: CampaignSchedule,
  { clock, commandLine = (command) => `feedsyncd ${command}`, env }: AppOptions,
) {
  const config: Config = settings.current
  const host = hostname()
  const overdue = overdueFeeds(() => settings.current.feeds, history, settings.ruleFor, clock)
  const alerts = new AlertDesk({
    ...{ clock, commandLine, conditions, log, history, host, targets: config.alerts },
    facts: {
      overdue,
      refusal: () => deliveries.refusal,
      conditions: () => conditions.current(),
      trusted: () => gate.accounts.isTrusted,
      campaigns: () => campaigns.last,
    },
    send: (target, message, signal) => sendAlert(target, message, { clock, http, env }, signal),
  })
  onMove(() => alerts.moved())
  onMove(({ state }) => metrics?.moved(state))
  const { pid } = process
  const supervisor = createSupervisor({
    ...{ clock, env, pid, notify: createNotifier({ env, log, pid }) },
    status: () => statusLine(history, conditions.current(), clock.now()),
  })
  const scraped: MetricsSource = {
    history,
    clock,
    uploader,
    overdue,
    campaigns: () => campaigns.last,
  }
  return {
    alerts,
    supervisor,
    /** Opens `http.listen`, where there is one. Throws `FeedsyncError` when it cannot be used. */
    serve: async (pulse: () => Pulse): Promise<Endpoint | null> => {
      const { listen } = config.http
      if (listen === null || metrics === null) return null
      const { openEndpoint } = await import('../ops/web/endpoint.ts')
      const look = () => ({ running: true, conditions: null, uploads: uploads.current() })
      const source = {
        history,
        pulse,
        host,
        inbox: config.inbox.directory,
        commandLine,
        status: () => statusOf(history, settings.current, clock, {}, look()),
        versions: (feed: string, limit: number) =>
          statusOf(history, settings.current, clock, { feed, limit, all: true }, look()).uploads,
        version: (id: number) =>
          versionOf(history, settings.current, clock, id, MOST_EVENTS, uploads.current()),
        metrics: () => metrics.text(scraped),
        plan: (id: number) => {
          using memory = openCampaignMemory(config)
          return memory?.plan(id) ?? null
        },
        campaigns: () => {
          using memory = openCampaignMemory(config)
          return campaignsSeen(memory).map(({ seen }) => seen)
        },
      }
      return openEndpoint({ listen, source, clock, log })
    },
  }
}
