// The service on another continent, behind a satellite, and behind a name server that is down: a real line with a
// delay.

import { describe, expect, it } from 'vitest'
import { feedOf, finished } from '../../helpers/site.ts'
import { FarHost, NOBODY, whyNot } from './far-host.ts'

const HERE = '10.213.7.1'
const SEARCH = 'search a.example b.example c.example\noptions ndots:5\n'

describe.skipIf(whyNot() !== null)('a feed is stored at the first attempt', () => {
  it.each([
    ['on another continent', 150, 'IPv4'],
    ['on another continent', 150, 'IPv6'],
    ['behind a satellite', 350, 'IPv4'],
    ['behind a satellite', 350, 'IPv6'],
    ['behind two satellites', 700, 'IPv4'],
  ] as const)('%s, %i ms away, with a dead IPv6 address and %s first', async (...row) => {
    const [, delayMs, first] = row
    await using far = await FarHost.open({ delayMs, first })
    far.site.drop('jobs.xml', feedOf(3))
    far.start('run')

    const { attempts } = await far.site.until('jobs.xml', 'uploaded')

    expect(attempts).toBe(1)
  })

  it('although the first name server is down, and each name is first looked up in three search domains', async () => {
    const resolv = `nameserver ${NOBODY}\nnameserver ${HERE}\n${SEARCH}`
    await using far = await FarHost.open({ delayMs: 50, first: 'none', resolv })
    far.site.drop('jobs.xml', feedOf(3))
    far.start('run')

    const { attempts } = await far.site.until('jobs.xml', 'uploaded')

    expect(attempts).toBe(1)
  })
})

it.skipIf(whyNot() !== null)(
  'a feed that waits for name servers that are down says so, and names them',
  async () => {
    // The system's own patience is shortened, because the daemon tries again several times.
    const resolv = `nameserver ${NOBODY}\nnameserver 10.213.7.98\noptions timeout:1 attempts:1\n`
    await using far = await FarHost.open({ delayMs: 50, first: 'none', resolv })
    far.site.drop('jobs.xml', feedOf(3))

    await finished(far.start('run', '--once'))

    const [version] = far.site.uploads({ feed: 'jobs.xml' })
    expect(version?.reason).toMatch(
      /^no answer from the service: the name server gave no address of far\.test \(EAI_AGAIN; asked: 10\.213\.7\.99, 10\.213\.7\.98\)$/,
    )
  },
)
