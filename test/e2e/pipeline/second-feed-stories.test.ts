// Feeds of two accounts come, are killed, restarted, released and sent in any order. Whatever happens, storage has at
// most one feed of an account that no person released. test/unit/pipeline/decide/stories.test.ts searches all stories
// of two feeds without a database.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

const NAMES = ['jobs.xml', 'nurses.xml', 'cooks-2026-11-28.xml', 'cooks-2026-11-29.xml']
const PATHS = ['42', '43'].flatMap((account) => NAMES.map((name) => `${account}/${name}`))
const CALLERS = [{ partner: 'acme', partnerAccounts: ['42', '43'], secret: SECRET }]
const CONFIG = {
  service: { account: undefined, partner: 'acme', partnerAccount: '42' },
  feeds: [{ match: '{1}/*.xml', partnerAccount: '{1}' }],
  guards: { secondFeed: 'hold' },
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ drop: fc.constantFrom(...PATHS) }) },
  { weight: 3, arbitrary: fc.constant('a whole run' as const) },
  { weight: 2, arbitrary: fc.constant('a run whose answers are lost' as const) },
  { weight: 1, arbitrary: fc.constant('a release' as const) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** played plays the steps, and returns the accounts that have two feeds of which nobody released either. */
async function played(steps: readonly Step[]): Promise<string[]> {
  await using site = await Site.open(CONFIG, { callers: CALLERS, clock: quickClock() })
  const released = new Set<string>()
  let postings = 1
  const wrong = () => {
    const feedOfBytes = new Map(
      site.uploads({ all: true }).map(({ feed, sha256 }) => [sha256, feed]),
    )
    const feeds = new Set(site.sandbox.objects().map(({ sha256 }) => feedOfBytes.get(sha256) ?? ''))
    const unasked = [...feeds].filter((feed) => !released.has(feed))
    const accounts = unasked.map((feed) => feed.split('/')[0] ?? '')
    return accounts.filter((account, n) => accounts.indexOf(account) !== n)
  }
  for (const each of steps) {
    if (typeof each === 'object') {
      site.drop(each.drop, feedOf(++postings))
    } else if (each === 'a release') {
      const [held] = site.uploads({ all: true, states: ['held'] })
      if (held?.guard !== 'second-feed') continue
      released.add(held.feed)
      await site.run('release', String(held.id))
    } else {
      const lost = each === 'a whole run' ? null : LOST
      const fault = lost && site.sandbox.faults.add(lost)
      await site.run('run', '--once')
      fault?.remove()
    }
    if (wrong().length > 0) return wrong()
  }
  await site.run('run', '--once')
  return wrong()
}

const LOST = { at: 'storage', kind: 'lose-answer', stored: true, how: 'rst', times: 4 } as const

it('storage has at most one feed of an account that nobody released, whatever happens', async () => {
  const steps = fc.array(step, { minLength: 4, maxLength: 9 })
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      expect(await played(all)).toEqual([])
    }),
    { numRuns: 6, seed: 20261128 },
  )
})
