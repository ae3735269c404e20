// Builds the daemon, which lists the folder, takes files and sends versions, each when it is due.

import type { CampaignSchedule } from '../campaigns/schedule.ts'
import type { Config } from '../config/config.ts'
import type { RuleFor } from '../config/feeds.ts'
import { Daemon, type DaemonParts } from '../daemon/daemon.ts'
import { FailurePause } from '../daemon/failure-pause.ts'
import { writeHeartbeat } from '../daemon/heartbeat.ts'
import { Intake } from '../daemon/intake.ts'
import { recordListing } from '../daemon/record-listing.ts'
import { restlessToRead } from '../daemon/restless.ts'
import { withRoom } from '../daemon/room.ts'
import { scanFolder } from '../daemon/scan-folder.ts'
import { SendConditions } from '../daemon/send-conditions.ts'
import { SendQueue } from '../daemon/send-queue.ts'
import { Sending } from '../daemon/sending.ts'
import { TakeQueue } from '../daemon/take-queue.ts'
import { Upkeep } from '../daemon/upkeep.ts'
import type { WaitClock } from '../daemon/wait-clock.ts'
import type { Conditions } from '../domain/conditions.ts'
import type { CheckerFor } from '../feed/port.ts'
import type { History } from '../history/port.ts'
import type { Inbox } from '../inbox/folder.ts'
import { Settler } from '../inbox/settling.ts'
import { SkippedPaths } from '../inbox/skipped-paths.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { AlertDesk } from '../ops/alerts/desk.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import type { Supervisor } from '../ops/systemd/supervisor.ts'
import type { Spool } from '../spool/port.ts'
import type { SendGate } from '../upload/send-gate.ts'
import type { Story } from './build-pipeline.ts'

interface DaemonNeeds {
  alerts: AlertDesk
  campaigns: CampaignSchedule
  checkerFor: CheckerFor
  clock: Clock
  /** clockSkewMs returns how far this clock is behind the service's, in ms; null if the service sent no date. */
  clockSkewMs: () => number | null
  conditions: Conditions
  config: Config
  daemonFile: DaemonFile
  gate: SendGate
  history: History
  inbox: Inbox
  log: Log
  notifyOperator: (message: string, hint: string | null) => void
  /** reloadKey reads the service key again. Returns whether it has changed. */
  reloadKey: () => boolean
  ruleFor: RuleFor
  spool: Spool
  story: Story
  supervisor: Supervisor
  waits: WaitClock
  watch: DaemonParts['watch']
}

export function buildDaemon(needs: DaemonNeeds): Daemon {
  const { alerts, campaigns, checkerFor, clock, clockSkewMs, conditions, config } = needs
  const { daemonFile, gate, history, inbox, log, notifyOperator, reloadKey } = needs
  const { ruleFor, spool, story, supervisor, waits, watch } = needs
  const { attempts, departures, ledger, pipeline, postDelivery } = story
  const { inbox: inboxConfig, state: stateConfig } = config
  const { directory: inboxDirectory, incompleteAfterMs, rescanMs } = inboxConfig

  const settler = new Settler(inboxConfig.quietPeriodMs)
  const skipped = new SkippedPaths({
    clock,
    log,
    onChange: (all) => daemonFile.update({ skipped: all }),
  })
  const takeQueue = new TakeQueue({
    clock,
    history,
    lookAgain: () => intake.hint(),
    pipeline,
    rescanMs,
    skipped,
  })
  const listingNeeds = { clock, departures, history, ledger, log, ruleFor, skipped, takeQueue }
  const scanNeeds = {
    checkerFor,
    clock,
    conditions,
    daemonFile,
    inbox,
    incompleteAfterMs,
    knownPaths: ledger.known,
    postDelivery,
    settler,
    skipped,
  }
  const restlessNeeds = { inboxConfig, ledger, ruleFor, settler }
  const roomNeeds = {
    clock,
    inboxDirectory,
    ledger,
    log,
    notifyOperator,
    ruleFor,
    settler,
    spool,
  }
  const intake: Intake = new Intake({
    clock,
    history,
    inbox,
    inboxConfig,
    ledger,
    restlessToRead: (now) => restlessToRead(now, restlessNeeds),
    ruleFor,
    scanFolder: () =>
      scanFolder({ ...scanNeeds, record: (listing) => recordListing(listing, listingNeeds) }),
    settler,
    takeQueue,
    withRoom: (quiet) => withRoom(quiet, roomNeeds),
  })

  const sendQueue = new SendQueue({ clock, gate, history })
  const sendConditions = new SendConditions({ conditions, gate, reloadKey })
  const sending = new Sending({ attempts, gate, ledger, log, ruleFor, sendConditions, sendQueue })

  return new Daemon({
    alerts,
    campaigns,
    clock,
    conditions,
    heartbeat: () => writeHeartbeat({ clock, clockSkewMs, daemonFile, inbox, sending }),
    history,
    inbox,
    incompleteAfterMs,
    intake,
    log,
    pause: new FailurePause({ clock, conditions, log }),
    postDelivery,
    sendQueue,
    sending,
    supervisor,
    takeQueue,
    upkeep: new Upkeep({ clock, clockSkewMs, conditions, history, log, spool, stateConfig }),
    waits,
    watch,
  })
}
