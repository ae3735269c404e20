import { describe, expect, it } from 'vitest'
import { updateDirectly } from '../../../src/campaigns/direct.ts'
import { DAY, MINUTE } from '../../../src/lib/clock.ts'
import { entry, fileOf } from '../reconciling.ts'
import { failure, type Host, installed, opened, troubles } from '../world.ts'

const budget = (amount: string, fields = '') => fileOf(entry('A', fields).replace('100.00', amount))
const searchDown = {
  on: 'search',
  trouble: { kind: 'fail', failure: failure.temporary() },
} as const
/** A feed of so many postings of A, all of them in Rhode Island. */
const feedOf =
  (postings: number): Host['feeds'] =>
  () => ({
    latest: [
      {
        ...{ feed: 'f', path: 'f', version: 1, uploadedAt: 0, postings },
        ...{ records: '/a/b', spool: 'x', ids: { A: postings } },
      },
    ],
    absence: () => null,
    read: async (_fields, _needed, take) => {
      for (let n = 0; n < postings; n++) take({ externalCampaignId: 'A', state: 'RI' })
      return []
    },
  })
const states = (list: string) => fileOf(entry('A', `targeting: { stateProvCodes: [${list}] }`))

describe('a process that dies while it widens, on a service that does not show targeting', () => {
  it('and the file goes back: what may have arrived is taken back', async () => {
    const { world, host } = await installed(states('MA'))
    world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'die', when: 'after' } })
    host.file = states('MA, ON')
    await expect(host.daemon()).rejects.toThrow()
    host.file = states('MA')
    world.pass(5 * MINUTE)

    await host.daemon()

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })

  it('by a direct call: the file’s targeting is written again', async () => {
    const { world, host } = await installed(states('MA'))
    world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'die', when: 'after' } })
    const wide = { externalCampaignId: 'A', stateProvCodes: ['MA', 'ON'] }
    await expect(updateDirectly(host.person(), '48001', { targeting: wide })).rejects.toThrow()
    host.restart()
    world.pass(5 * MINUTE)

    await host.daemon()

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })
})

describe('a person’s word about a difference is about what that person saw', () => {
  it.each(['lowered again', 'raised'])(
    '--revert is held, and later %s on the service: reported',
    async (how) => {
      const { world, host } = await installed(budget('100.00'))
      world.pass(2 * DAY)
      world.campaign('48001').budget = 20
      await host.daemon()
      await host.decide().settle('A', 'revert')
      await host.daemon()
      world.pass(30 * DAY)
      const theirs = how === 'raised' ? 70 : 15
      world.campaign('48001').budget = theirs

      const run = await host.run()

      expect(world.campaign('48001').budget).toBe(theirs)
      expect(run.findings).toMatchObject([{ code: 'drift', key: 'A' }])
    },
  )

  it('the same for targeting, however the service sorts it', async () => {
    const { world, host } = await installed(states('MA'))
    world.book.knobs.echoTargeting = true
    const theirs = (stateProvCodes: string[]) => {
      world.campaign('48001').targeting = { stateProvCodes, externalCampaignId: 'A' }
    }
    theirs(['RI', 'NY', 'MA'])
    await host.daemon()
    theirs(['RI', 'MA', 'NY'])
    await host.decide().settle('A', 'revert')
    theirs(['MA', 'NY', 'RI'])
    await host.daemon()

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })
})

describe('a direct call', () => {
  it('to a targeting that somebody changed on the service passes the guards', async () => {
    const { world, host } = await installed(states('MA'))
    world.book.knobs.echoTargeting = true
    host.feeds = feedOf(1000)
    host.file += 'guards: { maxShareOfFeed: 0.1 }\n'
    world.campaign('48001').targeting = { externalCampaignId: 'A', stateProvCodes: ['RI'] }
    const all = { targeting: { externalCampaignId: 'A' } }

    const answer = await updateDirectly(host.person(), '48001', all)

    expect(answer).toMatchObject({ kind: 'refused' })
    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['RI'] })
  })

  it('that lowers a budget, which the service shows rounded, needs no search', async () => {
    const { world, host } = opened(budget('100.50'))
    world.shape = (shown) => ({ ...shown, budget: Math.ceil(Number(shown.budget)) })
    await host.apply()
    world.trouble = troubles(searchDown)

    const answer = await updateDirectly(host.person(), '48001', { budget: 50 })

    expect(answer).toMatchObject({ kind: 'ok' })
  })
})
