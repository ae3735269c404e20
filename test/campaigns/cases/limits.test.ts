import { describe, expect, it } from 'vitest'
import { updateDirectly } from '../../../src/campaigns/direct.ts'
import type { FeedSide } from '../../../src/campaigns/port.ts'
import { entry, fileOf, itemOf } from '../reconciling.ts'
import { failure, type Host, installed, troubles } from '../world.ts'

const guards = (text: string) => `guards: { ${text} }\n`
const states = (list: string) => fileOf(entry('A', `targeting: { stateProvCodes: [${list}] }`))

/** A feed of so many postings of A. */
const feedOf =
  (postings: number): Host['feeds'] =>
  (): FeedSide => ({
    latest: [
      {
        ...{ feed: 'f', path: 'f', version: 1, uploadedAt: 0, postings },
        ...{ records: '/a/b', spool: 'x', ids: { A: postings } },
      },
    ],
    absence: () => null,
    read: async (_fields, _needed, take) => {
      for (let n = 0; n < postings; n++)
        take({ externalCampaignId: 'A', requisitionId: `R${n}`, state: 'MA' })
      return []
    },
  })

describe('from pinned requisitions alone to a filter', () => {
  it('narrowed on the service to one posting, then a state more in the file: it is no reduction', async () => {
    const { world, host } = await installed(states('MA'))
    world.book.knobs.echoTargeting = true
    world.campaign('48001').targeting = { requisitionIds: ['R1'] }
    host.feeds = feedOf(1000)
    host.file = states('MA, ON') + guards('maxShareOfFeed: 0.1')
    const plan = await host.plan()
    world.trouble = troubles({
      on: 'search',
      trouble: { kind: 'fail', failure: failure.temporary() },
    })

    await host.daemon()

    expect(itemOf(plan, 'A')).toMatchObject({ held: { code: 'conflict' } })
    expect(world.campaign('48001').targeting).toEqual({ requisitionIds: ['R1'] })
  })

  it('narrowed by a direct call: the file goes back by way of the guards', async () => {
    const { host } = await installed(states('MA'))
    await updateDirectly(host.person(), '48001', { targeting: { requisitionIds: ['R1'] } })

    const plan = await host.plan()

    expect(plan.summary).toMatchObject({ reduce: 0, update: 1 })
  })
})
