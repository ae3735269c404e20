// What reads the vendor's files: the watched folder, and a thread each for small and for large ones.

import type { Config } from '../config/config.ts'
import { laneOf } from '../daemon/intake.ts'
import type { FileIdentity } from '../feed/port.ts'
import { createFeedChecker } from '../feed/worker-checker.ts'
import { Dispositions } from '../inbox/dispositions.ts'
import { Inbox } from '../inbox/folder.ts'
import { Settler } from '../inbox/settling.ts'
import type { AppOptions } from './app.ts'
import type { Storage } from './storage.ts'

export type InboxParts = ReturnType<typeof openInbox>

export function openInbox(
  config: Config,
  { conditions, log }: Storage,
  { clock }: AppOptions,
  owned: AsyncDisposableStack,
) {
  const lanes = { small: owned.use(createFeedChecker()), large: owned.use(createFeedChecker()) }
  return {
    inbox: owned.use(new Inbox({ ...config.inbox, clock, conditions, log })),
    settler: new Settler(config.inbox.quietPeriodMs),
    dispositions: new Dispositions({ ...config.inbox, clock }),
    /** The thread that a file of this size belongs to. */
    checkerFor: (file: Pick<FileIdentity, 'size'> | null) => lanes[laneOf(file)],
  }
}
