// A feed's way through the daemon: what its steps need, from the listing to the delivery.

import type { CampaignSchedule } from '../campaigns/schedule.ts'
import { Deliveries } from '../daemon/deliveries.ts'
import { Intake } from '../daemon/intake.ts'
import { createUpkeep } from '../daemon/upkeep.ts'
import { Ledger } from '../history/ledger.ts'
import type { Version } from '../history/port.ts'
import { Guard } from '../pipeline/guard.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import { PostDelivery } from '../pipeline/post-delivery.ts'
import { markReceiptPending } from '../pipeline/receipts.ts'
import { keyReloader } from '../service/key-file.ts'
import type { AppOptions } from './app.ts'
import type { InboxParts } from './inbox.ts'
import type { Network } from './network.ts'
import type { LiveSettings } from './settings.ts'
import type { Storage } from './storage.ts'

export type Feeds = ReturnType<typeof openFeeds>

export function openFeeds(
  settings: LiveSettings,
  { conditions, history, log, metrics: observer, spool, uploads }: Storage,
  { forms, gate, uploader }: Network,
  { checkerFor, dispositions, inbox, settler }: InboxParts,
  campaigns: CampaignSchedule,
  { clock, onMove = () => {}, notifyOperator }: AppOptions,
) {
  const { ruleFor } = settings
  /** Hear of every new state of a version, once it is certain. */
  const onMoves = [onMove, (version: Version) => uploads.moved(version)]
  const base = { clock, history, log, settings }
  const ledger = new Ledger({
    ...base,
    onMove: (version) => onMoves.forEach((moved) => void moved(version)),
    along: (version) => markReceiptPending(history, settings, version),
  })
  const postDelivery = new PostDelivery({ ...base, conditions, dispositions, ledger, spool })
  const guard = new Guard({ checkerFor, history, ledger, settings, spool })
  const story = { ...base, checkerFor, ledger, postDelivery, ruleFor, spool }
  const pipeline = new Pipeline({
    ...story,
    guard,
    observer,
    onProgress: (id, sent, total) => uploads.sent(id, sent, total),
    uploader,
    reconcile: () => campaigns.uploaded(),
  })
  const deliveries = new Deliveries({
    ...base,
    conditions,
    gate,
    pipeline,
    reloadKey: keyReloader(forms, settings.current.service.auth.keyFile),
    clockSkewMs: () => forms.clockSkewMs(),
  })
  const intake = new Intake({ ...story, conditions, inbox, notifyOperator, pipeline, settler })
  return {
    deliveries,
    intake,
    ledger,
    pipeline,
    postDelivery,
    upkeep: createUpkeep({ ...base, deliveries, spool }),
    listen: (moved: (version: Version) => void) => void onMoves.push(moved),
  }
}
