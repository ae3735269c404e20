import { describe, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf, findingOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import { installed } from '../../../helpers/campaigns/world.ts'

const BOTH = fileOf(entry('A'), entry('B'))

describe('a campaign that this database made, and that a person took back', () => {
  it('with the command that forget names: no other database is said to have made it', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.decide().forget('A')
    await host.decide().adopt('A', '48001')
    world.pass(DAY)
    host.file = BOTH

    await host.daemon()

    expect(itemOf(await host.plan(), 'B')).toBeUndefined()
    expect(world.all).toHaveLength(2)
  })

  it('by its campaignId in the file: the same', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.decide().forget('A')
    host.file = fileOf(entry('A', 'campaignId: "48001"'))
    await host.apply()
    host.file = fileOf(entry('A', 'campaignId: "48001"'), entry('B'))

    await host.daemon()

    expect(world.all).toHaveLength(2)
  })

  it('an earlier one of its key, too', async () => {
    const { host } = await installed(fileOf(entry('A')))
    await host.decide().isNew('A')
    await host.daemon()
    await host.decide().adopt('A', '48001')
    host.decide().forget('48002')
    host.file = BOTH

    await host.daemon()

    expect(itemOf(await host.plan(), 'B')).toBeUndefined()
  })

  it('one that another database made still speaks for that database', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const second = world.host(fileOf(entry('A')))
    await second.apply()
    await second.decide().adopt('A', '48001')
    world.pass(MINUTE)
    second.file = BOTH

    await second.apply()

    expect(itemOf(await second.plan(), 'B')?.held).toMatchObject({ cause: 'another database' })
    expect(host.store.record('A')).toMatchObject({ campaignId: '48001' })
  })
})

describe('the database is lost, and an entry had a successor', () => {
  async function lost() {
    const { world, host } = await installed(fileOf(entry('A')))
    await host.decide().isNew('A')
    await host.daemon()
    host.lose()
    await host.look('report')
    return { world, host }
  }

  it('the advice names the campaign that runs, and not the one that was paused for it', async () => {
    const { world, host } = await lost()

    const held = itemOf(await host.plan(), 'A')?.held
    host.file = `${fileOf(entry('B'))}removed:\n  - { externalCampaignId: A, endDate: 2027-01-31 }\n`
    const ended = findingOf(await host.plan(), 'no-campaign', 'A')

    expect(world.all.map(({ id, status }) => [id, status])).toEqual([
      ['48001', 3],
      ['48002', 1],
    ])
    expect(held?.needs).toContain('campaigns adopt A 48002 if')
    expect(ended?.needs).toContain('campaigns adopt A 48002')
  })

  it('adopt --marked takes the one that runs', async () => {
    const { host } = await lost()

    const found = await host.decide().marked()

    expect(found).toMatchObject({ kind: 'done', pairs: [{ key: 'A', campaign: { id: '48002' } }] })
  })

  it('adopt --marked leaves an entry to a person where two run', async () => {
    const { world, host } = await lost()
    world.campaign('48001').status = 1

    expect(await host.decide().marked()).toMatchObject({ kind: 'done', pairs: [] })
  })
})
