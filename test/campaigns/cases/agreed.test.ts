import { describe, expect, it } from 'vitest'
import { entry, fileOf } from '../reconciling.ts'
import { failure, installed, troubles } from '../world.ts'

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
