// A look at the folder that does not end, as on a network whose server is gone, is said as such: nothing
// else would tell why no feed is taken.

import { isoTime, MINUTE } from '../lib/clock.ts'
import type { Conditions } from '../lib/conditions.ts'
import { createInbox, type InboxOptions } from './folder.ts'
import type { Inbox } from './port.ts'

export interface WatchedInboxOptions extends InboxOptions {
  conditions: Pick<Conditions, 'set' | 'clear'>
}

/** A listing of 100,000 files on a slow network takes less. */
const LIMIT_MS = 2 * MINUTE

/** The folder of `createInbox`, with a watch over both ways in which the daemon looks at it. */
export function createWatchedInbox(options: WatchedInboxOptions): Inbox {
  return watchedListing(createInbox(options), options)
}

export function watchedListing(
  inbox: Inbox,
  parts: Pick<WatchedInboxOptions, 'clock' | 'conditions' | 'directory'>,
): Inbox {
  const watched = async <T>(work: Promise<T>): Promise<T> => {
    const { clock, conditions, directory } = parts
    const began = clock.now()
    const timer = clock.after(LIMIT_MS, () => {
      conditions.set('scan-stuck', {
        message: `listing ${directory} has not ended since ${isoTime(began)}`,
        hint: 'check the disk or the network mount of inbox.directory; feeds are taken again once it answers',
      })
    })
    try {
      return await work
    } finally {
      timer.cancel()
      conditions.clear('scan-stuck')
    }
  }
  return {
    list: (known) => watched(inbox.list(known)),
    look: (paths) => watched(inbox.look(paths)),
    ignored: (path) => inbox.ignored(path),
    absolute: (path) => inbox.absolute(path),
    watch: (hint, changed) => inbox.watch(hint, changed),
    [Symbol.asyncDispose]: () => inbox[Symbol.asyncDispose](),
  }
}
