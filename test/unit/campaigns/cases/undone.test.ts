import { describe, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  failure,
  type Host,
  installed,
  opened,
  troubles,
  updateDirectly,
} from '../../../helpers/campaigns/world.ts'

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
const noAnswer = { kind: 'fail', failure: failure.temporary() } as const
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

describe('a service that fails at each narrower targeting', () => {
  it('what may be there is written down once, however often it is tried', async () => {
    const { world, host } = await installed(states('MA, ON'))
    world.trouble = troubles({ on: 'update', trouble: noAnswer })
    host.file = states('MA')
    for (let n = 0; n < 3; n++) await host.daemon()

    expect(world.writes()).toHaveLength(4)
    expect(host.store.record('A')?.uncertain).toHaveLength(1)
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

describe('what may still arrive', () => {
  it('is no reason to raise what somebody lowered on the service meanwhile', async () => {
    const { world, host } = await installed(budget('1000.00'))
    world.trouble = troubles({
      ...{ on: 'update', times: 1 },
      trouble: { kind: 'lost', afterMs: 10 * MINUTE },
    })
    host.file = budget('1400.00')
    await host.daemon()
    world.campaign('48001').budget = 500
    world.pass(5 * MINUTE)
    host.file = budget('800.00')
    const run = await host.run()
    const meanwhile = world.campaign('48001').budget
    world.pass(5 * MINUTE)
    const late = world.campaign('48001').budget

    await host.daemon()

    expect([meanwhile, late]).toEqual([500, 1400])
    expect(run).toMatchObject({ waiting: [{ code: 'conflict' }], owesReduction: true })
    expect(world.campaign('48001').budget).toBe(800)
  })
})

describe('what our own write changes beside what it should', () => {
  it('is taken back where it spends more: a paused campaign that a lower budget resumed', async () => {
    const { world, host } = await installed(budget('100.00', 'status: paused'))
    world.book.knobs.sideEffect = { status: 1 }
    host.file = budget('90.00', 'status: paused')
    await host.daemon()
    world.book.knobs.sideEffect = null

    await host.daemon()

    expect(world.campaign('48001')).toMatchObject({ status: 3, budget: 90 })
  })

  it('the same for targeting', async () => {
    const { world, host } = await installed(states('MA'))
    world.book.knobs.echoTargeting = true
    world.book.knobs.sideEffect = { targeting: { externalCampaignId: 'A' } }
    host.file = states('MA').replace('100.00', '90.00')
    await host.daemon()
    world.book.knobs.sideEffect = null

    await host.daemon()

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })
})

describe('a reduction goes before and without anything else', () => {
  it('from an auto bid level that the service writes with a capital', async () => {
    const taken = (fields = '') => fileOf(entry('A', `campaignId: "48001"\n${fields}`))
    const { world, host } = opened(taken())
    world.make('Campaign A', { autoBidLevel: 'Accelerated' })
    await host.apply()
    world.trouble = troubles(searchDown)
    host.file = taken('autoBidLevel: standard')

    await host.daemon()

    expect(world.campaign('48001').autoBidLevel).toBe('standard')
  })

  it('with one field of it at which the service fails each time: the others are lowered', async () => {
    const { world, host } = await installed(budget('100.00', 'endDate: 2026-12-31'))
    world.trouble = ({ kind, body }) =>
      kind === 'update' && body?.endDate !== undefined
        ? { kind: 'fail', failure: failure.temporary(500) }
        : null
    host.file = budget('50.00', 'endDate: 2026-12-02')

    const run = await host.run()

    expect(world.campaign('48001').budget).toBe(50)
    expect(run.owesReduction).toBe(true)
  })

  it('of what somebody raised, once a person said --revert: while the search is down', async () => {
    const { world, host } = await installed(budget('100.00'))
    world.campaign('48001').budget = 9999
    await host.daemon()
    await host.decide().settle('A', 'revert')
    world.trouble = troubles(searchDown)

    await host.daemon()

    expect(world.campaign('48001').budget).toBe(100)
  })

  it('in a file that raises all the others: they are not read before it', async () => {
    const keys = Array.from({ length: 40 }, (_, n) => `K${10 + n}`)
    const file = (amount: (key: string) => string) =>
      fileOf(
        ...keys.map((key) =>
          entry(key, 'targeting: { stateProvCodes: [MA] }').replace('100.00', amount(key)),
        ),
      )
    const { world, host } = await installed(
      `${file(() => '100.00')}guards: { createsPerDay: 100 }\n`,
    )
    world.calls.length = 0
    host.file = file((key) => (key === 'K49' ? '50.00' : '120.00'))

    await host.daemon()

    const read = world.calls.slice(
      0,
      world.calls.findIndex(({ kind }) => kind === 'update'),
    )
    expect(world.writes()[0]?.body).toEqual({ budget: 50 })
    expect(read.length).toBeLessThan(20)
  })
})

describe('listed under removed', () => {
  it.each([
    ['the service does not show its end', undefined],
    ['its end is shown as an empty text', ''],
    ['its end is a placeholder', '0001-01-01T00:00:00'],
    ['its end is the last one that there is, in a zone to the west', '9999-12-31T23:59:59-05:00'],
  ])(
    'a campaign that was taken over, and %s: it is ended, once, while the search is down',
    async (_, shownAs) => {
      const { world, host } = opened(fileOf(entry('A', 'campaignId: "48001"')))
      world.make('Campaign A')
      world.shape = ({ endDate, ...shown }) =>
        shownAs === undefined || endDate !== null
          ? { ...shown, ...(shownAs !== undefined && { endDate }) }
          : { ...shown, endDate: shownAs }
      await host.apply()
      host.file = 'version: 1\nremoved:\n  - { externalCampaignId: A, endDate: 2026-12-02 }\n'
      world.trouble = troubles(searchDown)
      await host.daemon()
      world.trouble = () => null
      await host.daemon()

      expect(world.writes().map(({ body }) => body)).toEqual([{ endDate: '2026-12-02T00:00:00Z' }])
    },
  )
})

describe('a clock that ran ahead by years when a write had no answer', () => {
  it('holds no raise for years once it is right again', async () => {
    const { world, host } = await installed(budget('100.00'))
    world.now += 3650 * DAY
    world.trouble = troubles({ on: 'update', times: 1, trouble: noAnswer })
    host.file = budget('110.00')
    await host.daemon()
    world.now -= 3650 * DAY
    world.pass(5 * MINUTE)
    host.file = budget('120.00')

    const run = await host.run()

    expect(world.campaign('48001').budget).toBe(120)
    expect(run.owesReduction).toBe(false)
  })
})
