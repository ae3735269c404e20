import { describe, expect, it } from 'vitest'
import { NOTHING_DESIRED } from '../../../../src/campaigns/desired.ts'
import { forever } from '../../../helpers/campaigns/account.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import { installed, updateDirectly, World } from '../../../helpers/campaigns/world.ts'

const low = (text: string) => text.replace('100.00', '10.00')

describe('campaigns of others stay as they are', () => {
  it('named in the file: nothing is written before a person approves, not by the daemon', async () => {
    const world = World.open()
    const theirs = world.make('Theirs', { targeting: { stateProvCodes: ['MA'] } })
    const host = world.host(
      fileOf(entry('A', `campaignId: "${theirs.id}"\ntargeting: { stateProvCodes: [ON] }`)),
    )

    host.file = host.file.replace('100.00', '60.00')

    const run = await host.run()
    await host.run()
    const untouched = { ...theirs }
    const plan = await host.plan()
    const results = await host.apply({ approved: plan })

    expect(untouched).toMatchObject({
      name: 'Theirs',
      budget: 50,
      targeting: { stateProvCodes: ['MA'] },
    })
    expect(run.waiting.map(({ needs }) => needs)).toContainEqual(
      expect.stringMatching(/campaigns apply \d+$/),
    )
    expect(itemOf(plan, 'A', 'update')?.changes.map(({ path }) => path)).toContain('name')
    expect(
      plan.items.flatMap(({ changes }) => changes).find(({ path }) => path === 'targeting'),
    ).toMatchObject({
      after: expect.stringContaining('stateProvCodes ON'),
    })
    expect(results[0]).toMatchObject({ outcome: 'adopted' })
    expect(theirs).toMatchObject({ name: 'Campaign A', targeting: { stateProvCodes: ['ON'] } })
  })

  it('named in the file and then removed: it is not ended', async () => {
    const world = World.open()
    const theirs = world.make('Theirs')
    const host = world.host(fileOf(entry('A', `campaignId: "${theirs.id}"`)))
    await host.daemon()
    host.file = 'version: 1\nremoved: [{ externalCampaignId: A, endDate: 2026-12-02 }]\n'

    await host.daemon()
    await host.apply()

    expect(theirs.endDate).toBeNull()
  })

  it('same ids in another account: nothing is written there', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.all.splice(0)
    const theirs = world.make('Theirs', {}, '999')
    theirs.id = '48001'
    host.account = '999'
    host.file = low(host.file)

    await host.daemon()
    await host.apply()
    const adopted = await host.decide().adopt('B', '48001')
    const forgotten = host.decide().forget('A')

    expect(theirs).toMatchObject({ name: 'Theirs', budget: 50 })
    expect((await host.plan()).stopped?.reason).toContain(
      'the configuration names https://service.example 999',
    )
    expect([adopted.kind, forgotten.kind]).toEqual(['refused', 'refused'])
  })

  it('GET answers another id: nothing is written to either', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const theirs = world.make('Theirs')
    world.shape = (shown, where) =>
      where === 'read' ? { ...shown, id: theirs.id, name: theirs.name } : shown
    host.file = low(host.file)

    await host.daemon()

    expect(theirs.budget).toBe(50)
    expect(world.writes()).toHaveLength(1)
  })

  it('a campaign that shows another account or another mark under our id is left alone', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    world.campaign('48001').accountId = '123'
    const [first, second] = world.all.map((one) => ({ ...one }))
    world.shape = (shown) =>
      shown.id === '48001'
        ? { ...shown, accountId: 'other' }
        : { ...shown, name: first?.name ?? '' }
    host.file = host.file.replaceAll('100.00', '10.00')

    await host.daemon()
    const plan = await host.plan()

    expect(world.all.map(({ budget }) => budget)).toEqual([100, 100])
    expect(second?.budget).toBe(100)
    expect(plan.items.map(({ held }) => held?.code)).toEqual(['foreign', 'foreign'])
  })

  it('adopt a campaign with another entry’s token: refused', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    host.lose()

    const wrong = await host.decide().adopt('A', '48002')
    const right = await host.decide().adopt('A', '48001')

    expect(wrong).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('carries the mark of B'),
    })
    expect(right).toMatchObject({ kind: 'done' })
    expect(world.writes()).toHaveLength(2)
  })

  it('campaignId in the file changed: neither the old one nor the new one is written', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const theirs = world.make('Theirs')
    host.file = low(fileOf(entry('A', `campaignId: "${theirs.id}"`)))

    await host.daemon()
    await host.apply()
    const plan = await host.plan()

    expect(world.all.map(({ budget }) => budget)).toEqual([100, 50])
    expect(itemOf(plan, 'A')?.held).toMatchObject({
      code: 'conflict',
      needs: expect.stringContaining('adopt A 48002'),
    })
  })

  it('an update by hand with another account’s credentials: nothing is written', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.account = '999'

    const answer = await updateDirectly(
      {
        ...{ ...host.parts(), account: 'https://service.example 999' },
        ...{ desired: NOTHING_DESIRED, by: 'person: test', signal: forever },
      },
      '48001',
      { budget: 10 },
    )

    expect(answer).toMatchObject({ kind: 'refused', reason: expect.stringContaining('999') })
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('a second installation in the account can create its first, by a person’s word', async () => {
    const { world } = await installed(fileOf(entry('A')))
    const second = world.host(fileOf(entry('B')))

    await second.daemon()
    const plan = await second.plan()
    await second.decide().isNew('B')
    await second.apply()

    expect(itemOf(plan, 'B')?.held).toMatchObject({ code: 'absence' })
    expect(world.all.map(({ name }) => name.slice(0, 10))).toEqual(['Campaign A', 'Campaign B'])
  })

  it('a wrong adopt is taken back by forget, and nothing is made instead of it', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const theirs = world.make('Theirs')
    host.file = fileOf(entry('A'), entry('B'))
    await host.decide().adopt('B', theirs.id)

    const undone = host.decide().forget('B')
    host.file = fileOf(entry('A'), low(entry('B')))
    await host.daemon()
    await host.apply()

    expect(undone).toMatchObject({ kind: 'done' })
    expect(theirs).toMatchObject({ name: 'Theirs', budget: 50 })
    expect(world.all).toHaveLength(2)
    expect(itemOf(await host.plan(), 'B')?.held).toMatchObject({ code: 'absence' })
  })
})
