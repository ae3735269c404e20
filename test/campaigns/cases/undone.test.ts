import { describe, expect, it } from 'vitest'
import { updateDirectly } from '../../../src/campaigns/direct.ts'
import { MINUTE } from '../../../src/lib/clock.ts'
import { entry, fileOf } from '../reconciling.ts'
import { installed, troubles } from '../world.ts'

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
