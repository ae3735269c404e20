import { describe, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  failure,
  type Host,
  installed,
  opened,
  type Trouble,
  troubles,
  updateDirectly,
} from '../../../helpers/campaigns/world.ts'

const budget = (amount: string, fields = '') => fileOf(entry('A', fields).replace('100.00', amount))

describe('what a late list shows is not agreed', () => {
  it('lowered back in mode `report` while lists show the value from before the raise: it is lowered', async () => {
    const { world, host } = await installed(budget('1000.00'))
    const old = structuredClone(world.all)
    world.listed = () => old
    host.file = budget('1400.00')
    await host.apply()
    host.file = budget('1000.00')
    await host.run('report')
    const plan = await host.plan()
    await host.apply()

    expect(plan.summary.reduce).toBe(1)
    expect(world.campaign('48001').budget).toBe(1000)
  })

  it('the same where one read by id fails: the next look lowers it', async () => {
    const { world, host } = await installed(budget('1000.00'))
    const old = structuredClone(world.all)
    world.listed = () => old
    host.file = budget('1400.00')
    await host.apply()
    host.file = budget('1000.00')
    world.trouble = troubles({
      ...{ on: 'get', times: 2 },
      trouble: { kind: 'fail', failure: failure.temporary() },
    })
    await host.daemon()
    await host.daemon()

    expect(world.campaign('48001').budget).toBe(1000)
  })

  it('the same for targeting that lists show', async () => {
    const states = (list: string) => budget('100.00', `targeting: { stateProvCodes: [${list}] }`)
    const { world, host } = await installed(states('MA'))
    world.book.knobs.echoTargeting = true
    const old = structuredClone(world.all)
    world.listed = () => old
    host.file = states('MA, ON')
    await host.apply()
    host.file = states('MA')
    await host.run('report')
    await host.apply()

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
  })
})

describe('what somebody lowers on the service stays', () => {
  it('months after a write that was tried twice: to the value that it sent', async () => {
    const { world, host } = await installed(budget('1000.00', 'status: running'))
    const answers = twice(host)
    host.file = budget('700.00', 'status: paused')
    await host.daemon()
    answers.stop()
    world.pass(2 * DAY)
    host.file = budget('1000.00', 'status: running')
    await host.apply()
    world.pass(90 * DAY)
    await host.daemon()
    Object.assign(world.campaign('48001'), { status: 3, budget: 700 })

    await host.daemon()

    expect(world.campaign('48001')).toMatchObject({ status: 3, budget: 700 })
    expect((await host.plan()).findings.map(({ code }) => code)).toEqual(['drift', 'drift'])
  })

  it('a raise whose first try arrives late is lowered again while the search is down', async () => {
    const { world, host } = await installed(budget('1000.00'))
    world.trouble = troubles({
      ...{ on: 'update', times: 1 },
      trouble: { kind: 'lost', afterMs: 10 * MINUTE },
    })
    host.file = budget('1400.00')
    await host.daemon()
    world.pass(MINUTE)
    host.file = budget('1000.00')
    await host.daemon()
    world.pass(10 * MINUTE)
    const late = world.campaign('48001').budget
    world.trouble = troubles({
      on: 'search',
      trouble: { kind: 'fail', failure: failure.temporary() },
    })

    await host.daemon()

    expect(late).toBe(1400)
    expect(world.campaign('48001').budget).toBe(1000)
  })

  it.each(['lower', 'raise'])(
    'after --revert, once somebody put the value back by hand: a later %s is reported',
    async (how) => {
      const { world, host } = await installed(budget('100.00'))
      world.pass(2 * DAY)
      world.campaign('48001').budget = 20
      await host.daemon()
      await host.decide().settle('A', 'revert')
      await host.daemon()
      world.campaign('48001').budget = 100
      await host.daemon()
      world.pass(90 * DAY)
      const theirs = how === 'lower' ? 70 : 130
      world.campaign('48001').budget = theirs

      await host.daemon()

      expect(world.campaign('48001').budget).toBe(theirs)
      expect((await host.plan()).findings).toMatchObject([{ code: 'drift', key: 'A' }])
    },
  )

  it('the same for targeting', async () => {
    const states = (list: string) => budget('100.00', `targeting: { stateProvCodes: [${list}] }`)
    const { world, host } = await installed(states('MA, ON'))
    world.book.knobs.echoTargeting = true
    const theirs = (list: string[]) => {
      world.campaign('48001').targeting = { externalCampaignId: 'A', stateProvCodes: list }
    }
    theirs(['MA'])
    await host.daemon()
    await host.decide().settle('A', 'revert')
    theirs(['MA', 'ON'])
    await host.daemon()
    theirs(['MA'])

    await host.daemon()

    expect(world.campaign('48001').targeting).toMatchObject({ stateProvCodes: ['MA'] })
    expect((await host.plan()).findings).toMatchObject([{ code: 'drift', key: 'A' }])
  })

  it.each<[string, Trouble | null]>([
    ['with an answer', null],
    ['without an answer', { kind: 'lost' }],
    ['without an answer, a minute later', { kind: 'lost', afterMs: MINUTE }],
  ])('a direct call %s: reported, and left alone', async (_, trouble) => {
    const { world, host } = await installed(budget('1000.00'))
    world.pass(2 * DAY)
    if (trouble !== null) world.trouble = troubles({ on: 'update', times: 1, trouble })
    await updateDirectly(host.person(), '48001', { budget: 700 })

    for (let looks = 0; looks < 4; looks++) {
      await host.daemon()
      world.pass(2 * MINUTE)
    }

    expect(world.campaign('48001').budget).toBe(700)
    expect((await host.plan()).findings).toMatchObject([{ code: 'drift', key: 'A' }])
    expect(world.writes()).toHaveLength(2)
  })

  it('a direct raise without an answer is lowered again, as long as it is not settled', async () => {
    const { world, host } = await installed(budget('1000.00'))
    world.trouble = troubles({
      ...{ on: 'update', times: 1 },
      trouble: { kind: 'lost', afterMs: 5 * MINUTE },
    })
    await updateDirectly(host.person(), '48001', { budget: 1400 })
    await host.daemon()
    world.pass(5 * MINUTE)
    const late = world.campaign('48001').budget

    await host.daemon()

    expect(late).toBe(1400)
    expect(world.campaign('48001').budget).toBe(1000)
  })
})

describe('an end a day earlier that the service accepts and does not do', () => {
  it.each([
    ['as it was sent', (end: string) => end],
    [
      'in a zone to the west',
      (end: string) => `${end.slice(0, 8)}${Number(end.slice(8, 10)) - 1}T19:00`,
    ],
  ])('is not counted as done, shown %s', async (_, shownAs) => {
    const until = (end: string) => budget('100.00', `endDate: ${end}`)
    const { world, host } = opened(until('2026-12-31'))
    world.shape = (shown) => ({ ...shown, endDate: shownAs(String(shown.endDate)) })
    await host.apply()
    host.file = until('2026-12-30')
    const update = world.book.update.bind(world.book)
    world.book.update = () => {}
    const { results } = await host.daemon()
    world.pass(MINUTE)
    await host.daemon()
    const plan = await host.plan()
    world.book.update = update

    await host.daemon()

    expect(results).toMatchObject([{ key: 'A', outcome: 'unknown' }])
    expect(plan.summary.reduce).toBe(1)
    expect(world.campaign('48001').endDate).toBe('2026-12-30T00:00:00Z')
    expect((await host.plan()).items).toEqual([])
  })
})

/** Each answer to an update says that a first try may still arrive. */
function twice(host: Host) {
  const parts = host.parts.bind(host)
  host.parts = () => {
    const all = parts()
    const update: typeof all.api.update = async (...call) => {
      const answer = await all.api.update(...call)
      return answer.kind === 'ok' ? { ...answer, mayArriveAgain: true } : answer
    }
    return { ...all, api: { ...all.api, update } }
  }
  return {
    stop: () => {
      host.parts = parts
    },
  }
}
