// The stories of the crash matrix. Each one says what must be true at the end, wherever the process was killed.

import { readdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { State } from '../../src/history/port.ts'
import { eventually, eventuallyTrue } from '../helpers/eventually.ts'
import { killed } from '../helpers/killed.ts'
import { feedOf, type Site } from '../helpers/site.ts'

export interface Scenario {
  name: string
  config: Record<string, unknown>
  /** prepare does everything before the pass that is killed. */
  prepare: (site: Site) => Promise<void> | void
  feed: string
  /** The last state of the feed's newest version. */
  ends: State
  /** The contents that storage must have. If the feed ends `uploaded`, the last content is its newest version. */
  sent: string[]
  /** also throws if anything else that must be true at the end is not true. */
  also?: (site: Site) => void
}

const A = feedOf(6, 'Nurse')
const B = feedOf(7, 'Driver')
const C = feedOf(8, 'Cook')
const BROKEN = '<source><job>&nbsp;</job></source>'
const FEED = 'jobs.xml'

async function pass(site: Site): Promise<void> {
  await site.run('run', '--once')
}

/** moved returns a check that the vendor's file was moved from the inbox to `folder`. */
const moved = (folder: string) => (site: Site) => {
  const found = readdirSync(join(site.root, folder))
  if (found.length === 0) throw new Error(`${folder} is empty`)
  isEmpty(site.inbox)
}

function isEmpty(folder: string): void {
  const left = readdirSync(folder)
  if (left.length > 0) throw new Error(`left in ${folder}: ${left}`)
}

export const SCENARIOS: Scenario[] = [
  {
    name: 'a new feed',
    config: { inbox: { receipts: true } },
    prepare: (site) => site.drop(FEED, A),
    ...{ feed: FEED, ends: 'uploaded', sent: [A] },
  },
  {
    name: 'a new version, and the copy of an older one that is removed',
    config: { upload: { keepVersions: 1 } },
    prepare: async (site) => {
      for (const content of [A, B]) {
        site.drop(FEED, content)
        await pass(site)
      }
      site.drop(FEED, C)
    },
    ...{ feed: FEED, ends: 'uploaded', sent: [A, B, C] },
  },
  {
    name: 'a broken feed',
    config: { inbox: { receipts: true } },
    prepare: (site) => site.drop(FEED, BROKEN),
    ...{ feed: FEED, ends: 'rejected', sent: [] },
  },
  {
    name: 'an incomplete feed',
    config: {},
    prepare: (site) => site.drop(FEED, A.slice(0, 200)),
    ...{ feed: FEED, ends: 'incomplete', sent: [] },
  },
  {
    name: 'a feed whose postings collapse',
    config: {},
    prepare: async (site) => {
      site.drop(FEED, A)
      await pass(site)
      site.drop(FEED, feedOf(1))
    },
    ...{ feed: FEED, ends: 'held', sent: [A] },
  },
  {
    name: 'the same bytes again',
    config: {},
    prepare: async (site) => {
      site.drop(FEED, A)
      await pass(site)
      utimesSync(join(site.inbox, FEED), 1, 1)
    },
    ...{ feed: FEED, ends: 'uploaded', sent: [A] },
  },
  {
    name: 'a version that replaces a waiting one',
    config: {},
    prepare: async (site) => {
      const down = { at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const
      site.sandbox.faults.add(down)
      site.drop(FEED, A)
      await pass(site)
      site.sandbox.faults.clear()
      site.drop(FEED, B)
    },
    ...{ feed: FEED, ends: 'uploaded', sent: [B] },
  },
  {
    name: 'a file that leaves the folder',
    config: {},
    prepare: async (site) => {
      writeFileSync(join(site.inbox, FEED), A.slice(0, 200))
      await pass(site)
      unlinkSync(join(site.inbox, FEED))
    },
    ...{ feed: FEED, ends: 'gone', sent: [] },
  },
  {
    name: 'an uploaded file that is archived',
    config: {},
    prepare: async (site) => {
      site.drop(FEED, A)
      await pass(site)
      site.configure({ inbox: { afterUpload: 'archive', archiveDirectory: './archive' } })
    },
    ...{ feed: FEED, ends: 'uploaded', sent: [A] },
    also: moved('archive'),
  },
  {
    name: 'an uploaded file that is deleted',
    config: {},
    prepare: async (site) => {
      site.drop(FEED, A)
      await pass(site)
      site.configure({ inbox: { afterUpload: 'delete' } })
    },
    ...{ feed: FEED, ends: 'uploaded', sent: [A] },
    also: (site) => isEmpty(site.inbox),
  },
  {
    name: 'a rejected file that is moved to the quarantine',
    config: {},
    prepare: async (site) => {
      site.drop(FEED, BROKEN)
      await pass(site)
      site.configure({
        inbox: {
          ...{ afterReject: 'quarantine', quarantineDirectory: './quarantine' },
          incompleteAfter: '1s',
        },
      })
      // A rejected file is moved only after it has stayed unchanged for `incompleteAfter`.
      const rejectedAt = Date.parse(site.show(1).events.at(-1)?.at ?? '')
      await eventuallyTrue(() => Date.now() > rejectedAt + 1000)
    },
    ...{ feed: FEED, ends: 'rejected', sent: [] },
    also: moved('quarantine'),
  },
  {
    name: 'a start after a crash during a check',
    config: {},
    prepare: async (site) => {
      site.drop(FEED, A)
      await killed(site, 'after rename state/spool/*.part to state/spool/1.xml')
    },
    ...{ feed: FEED, ends: 'uploaded', sent: [A] },
  },
  {
    name: 'a start after a crash during an upload',
    config: {},
    prepare: async (site) => {
      site.drop(FEED, A)
      await killed(site, 'after connect to the storage')
    },
    ...{ feed: FEED, ends: 'uploaded', sent: [A] },
  },
]

/**
 * settled runs passes until the story is at its end. Several passes can be needed, because only the next pass sees a
 * file that was put back into the folder.
 */
export async function settled(site: Site, scenario: Scenario): Promise<void> {
  const again = async () => {
    await pass(site)
    const [newest] = site.uploads({ feed: scenario.feed })
    if (newest?.state !== scenario.ends) throw new Error(`${newest?.state}: ${newest?.reason}`)
    scenario.also?.(site)
  }
  await eventually(again)
}
