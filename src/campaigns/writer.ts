// Opens the service and the database for writes of campaigns, under a lock that lets one process at a time write.

import { join } from 'node:path'
import { type Config, historyFile } from '../config/config.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { acquireLock, type InstanceLock } from '../history/instance-lock.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { becomeOwnerOf } from '../lib/user.ts'
import { openCampaignApi, type Planner, planSourcesOf, type ServiceAccess } from './planner.ts'
import type { CampaignStore } from './port.ts'
import { openCampaignStore } from './store.ts'

/** Writer is a planner that can also write. It holds the lock until it is disposed. */
export interface Writer extends Planner {
  store: CampaignStore
  /** checkLock throws `FeedsyncError` (75) if the lock is lost, because another process can then write campaigns. */
  checkLock(): void
}

const LOCK_PATIENCE_MS = 10 * SECOND
const LOCK_POLL_MS = 200

/**
 * openWriter opens the service and the database. A process of root first becomes the owner of the state directory.
 * openWriter waits `patienceMs` for the writer lock, then throws `FeedsyncError` (75).
 */
export async function openWriter(
  config: Config,
  access: ServiceAccess,
  patienceMs = LOCK_PATIENCE_MS,
): Promise<Writer> {
  await using owned = new AsyncDisposableStack()
  const { api } = owned.use(openCampaignApi(config, access))
  becomeOwnerOf(config.state.directory)
  const lock = owned.use(await waitForLock(config, access.clock, patienceMs))
  const sources = planSourcesOf(config, access, api)
  const { account, clock } = sources
  const { now } = clock
  const store = owned.use(
    openCampaignStore({ file: historyFile(config), account: account.name, now }),
  )
  const disposal = owned.move()
  return {
    ...sources,
    api,
    store,
    checkLock: () => {
      if (lock.isLost()) throw lockLost()
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  }
}

/** lockLost returns the error for a lock file that was deleted. Another process can write now, so this one stops. */
function lockLost(): FeedsyncError {
  return new FeedsyncError('the lock of the campaigns was deleted during a write', {
    hint: 'run the command again, and never delete campaigns/daemon.lock in the state directory',
    exitCode: EXIT.temporary,
  })
}

async function waitForLock(
  { state }: Config,
  clock: Clock,
  patienceMs: number,
): Promise<InstanceLock> {
  const until = clock.monotonic() + patienceMs
  for (;;) {
    const lock = acquireLock(join(state.directory, 'campaigns'))
    if (lock !== null) return lock
    if (clock.monotonic() >= until) break
    await clock.sleep(LOCK_POLL_MS)
  }
  throw new FeedsyncError('another feedsyncd is writing campaigns right now', {
    hint: hintWith(
      'try again when it has finished; to see what it wrote',
      commandFor('campaigns history'),
    ),
    exitCode: EXIT.temporary,
  })
}
