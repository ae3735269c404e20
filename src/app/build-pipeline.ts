// Builds the story of a feed: the parts that take files, send versions and clean up after them.

import type { Config } from '../config/config.ts'
import type { RuleFor } from '../config/feeds.ts'
import type { Conditions } from '../domain/conditions.ts'
import type { CheckerFor } from '../feed/port.ts'
import type { History, Version } from '../history/port.ts'
import { Dispositions } from '../inbox/dispositions.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Judging } from '../pipeline/account-facts.ts'
import { type AttemptObserver, AttemptRunner } from '../pipeline/attempt.ts'
import { Comparisons } from '../pipeline/baselines.ts'
import { Departures } from '../pipeline/departures.ts'
import { Ledger } from '../pipeline/ledger.ts'
import { type CheckObserver, Pipeline } from '../pipeline/pipeline.ts'
import { PostDelivery } from '../pipeline/post-delivery.ts'
import { markReceiptsPending, Receipts } from '../pipeline/receipts.ts'
import type { Spool } from '../spool/port.ts'
import type { Sender } from '../upload/port.ts'

interface PipelineNeeds {
  checkerFor: CheckerFor
  clock: Clock
  conditions: Conditions
  config: Config
  history: History
  judging: Judging
  log: Log
  /** Counts attempts and checks; null if the configuration has no page to read metrics from. */
  observer: (AttemptObserver & CheckObserver) | null
  onMove: (version: Version) => void
  onProgress: (id: number, sent: number, total: number) => void
  /** Called after an upload, so that the campaigns look at the new postings. */
  reconcile: () => void
  ruleFor: RuleFor
  sender: Sender
  spool: Spool
}

/** Story has the parts of the story of a feed that the daemon and the command `upload` use. */
export interface Story {
  attempts: AttemptRunner
  departures: Departures
  ledger: Ledger
  pipeline: Pipeline
  postDelivery: PostDelivery
}

export function buildPipeline(needs: PipelineNeeds): Story {
  const { checkerFor, clock, conditions, config, history, judging, log } = needs
  const { observer, onMove, onProgress, reconcile, ruleFor, sender, spool } = needs
  const { directory: inboxDirectory, receipts: hasReceipts, rescanMs } = config.inbox

  const ledger = new Ledger({
    clock,
    history,
    log,
    onMove,
    ...(hasReceipts && {
      inSameTransaction: (version, path) => markReceiptsPending(history, version, path),
    }),
  })
  const dispositions = new Dispositions({ ...config.inbox, clock })
  const departures = new Departures({
    clock,
    conditions,
    dispositions,
    history,
    inboxConfig: config.inbox,
    knownPaths: ledger.known,
    log,
  })
  const postDelivery = new PostDelivery({
    conditions,
    departures,
    history,
    keepVersions: config.upload.keepVersions,
    log,
    receipts: new Receipts({ clock, conditions, dispositions, history, log, rescanMs }),
    spool,
  })
  const comparisons = new Comparisons({ checkerFor, judging, log, ruleFor, spool })
  const pipeline = new Pipeline({
    checkerFor,
    comparisons,
    history,
    inboxDirectory,
    ledger,
    log,
    observer,
    postDelivery,
    spool,
  })
  const attempts = new AttemptRunner({
    clock,
    comparisons,
    history,
    ledger,
    log,
    observer,
    onProgress,
    postDelivery,
    random: Math.random,
    reconcile,
    sender,
    spool,
  })
  return { attempts, departures, ledger, pipeline, postDelivery }
}
