import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { absencesOf, latestUploads } from '../../../src/campaigns/feed-uploads.ts'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { DAY, HOUR, systemClock } from '../../../src/lib/clock.ts'
import { putEmptyHistory } from '../../helpers/history/empty.ts'
import { memoryFolder } from '../../helpers/memory-folder.ts'

const START = Date.UTC(2026, 11, 1)
const REST = { B: 20 }

/** feeds returns a history where `upload` adds an upload each hour. */
function feeds() {
  const folder = memoryFolder('feedsyncd-feeds-')
  const file = join(folder, 'feedsyncd.db')
  putEmptyHistory(file)
  let now = START
  const clock = { ...systemClock, now: () => now }
  const history = openHistory({ file, clock })
  onTestFinished(() => {
    history[Symbol.dispose]()
    rmSync(folder, { recursive: true })
  })
  const upload = (ids: Record<string, number>, feed = 'jobs.xml', after = HOUR) => {
    now += after
    const postings = Object.values(ids).reduce((sum, count) => sum + count, 0)
    const version = history.add({
      ...{ feed, path: feed, account: null, state: 'queued', reason: null, at: now },
    })
    history.move(version.id, 'uploading', { at: now })
    history.move(version.id, 'uploaded', {
      at: now,
      patch: {
        ...{
          spool: `${version.id}.xml`,
          records: '/source/job',
          postings,
          externalCampaignIds: ids,
        },
        ...{ sha256: String(version.id), uploadedAt: now },
      },
    })
    return now
  }
  const missing = (id = 'A') => absencesOf(history, ['jobs.xml', 'more.xml'])(id)
  return { history, upload, missing }
}

describe('an id that leaves the feeds', () => {
  it('is missing from the first good upload without it until a feed carries it again, unlike an id that stays or never was', () => {
    const { upload, missing } = feeds()
    upload({ A: 1, ...REST })
    const since = upload(REST)
    upload(REST)

    expect(missing()).toBe(since)
    expect([missing('B'), missing('never')]).toEqual([null, null])
    upload({ A: 1, ...REST })
    expect(missing()).toBeNull()
  })

  it('stays missing since the same upload after many more uploads', () => {
    const { upload, missing } = feeds()
    upload({ A: 1, ...REST })
    const since = upload(REST)
    for (let n = 0; n < 150; n++) upload(REST)

    expect(missing()).toBe(since)
  })

  it('is not missing after an upload that looks like an accident, unless that lasts three days', () => {
    const { upload, missing } = feeds()
    upload({ A: 1, ...REST })
    upload({})
    upload({ B: 1 })
    const accident = missing()
    const since = upload({ B: 1 }, 'jobs.xml', 3 * DAY)

    expect([accident, missing()]).toEqual([null, since])
  })

  it('is not missing while another feed carries it', () => {
    const { upload, missing } = feeds()
    upload({ A: 1, ...REST })
    upload({ A: 1 }, 'more.xml')
    upload(REST)

    expect(missing()).toBeNull()
  })
})

it('only the last upload of each feed of the account counts', () => {
  const { history, upload } = feeds()
  upload({ A: 1 })
  upload({ A: 3 })
  upload({ B: 2 }, 'more.xml')
  upload({ C: 2 }, 'theirs.xml')

  const latest = latestUploads(history, ({ feed }) => feed !== 'theirs.xml')

  expect(latest.map(({ feed, postings, ids }) => [feed, postings, ids]).sort()).toEqual([
    ['jobs.xml', 3, { A: 3 }],
    ['more.xml', 2, { B: 2 }],
  ])
})
