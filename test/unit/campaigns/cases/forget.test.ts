import { describe, expect, it } from 'vitest'
import { DAY } from '../../../../src/lib/clock.ts'
import { entry, fileOf, findingOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import { failure, installed, opened, troubles } from '../../../helpers/campaigns/world.ts'

const WITHOUT = fileOf(entry('B'), entry('K'))

/** B has a campaign; somebody's campaign has the name of K, and a person said that K is another one. */
async function saidToBeNew() {
  const { world, host } = await installed(fileOf(entry('B')))
  const theirs = world.make('Campaign K')
  host.file = WITHOUT
  await host.look('report')
  await host.decide().isNew('K')
  return { world, host, theirs }
}

describe('a word that another one took the place of', () => {
  it('create --new, then campaignId and apply; forgotten months later: nothing is made instead of it', async () => {
    const { world, host, theirs } = await saidToBeNew()
    host.file = fileOf(entry('B'), entry('K', `campaignId: "${theirs.id}"`))
    await host.apply()
    host.file = WITHOUT
    world.pass(90 * DAY)

    host.decide().forget('K')
    await host.daemon()

    expect(world.all).toHaveLength(2)
    expect(itemOf(await host.plan(), 'K')?.held).toMatchObject({ code: 'absence' })
  })

  it('a key whose create has no answer becomes the key of another campaign: it counts no longer', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('A'), entry('N'))
    const never = { kind: 'fail', failure: failure.temporary() } as const
    world.trouble = troubles({ on: 'create', trouble: never })
    await host.daemon()
    host.file = fileOf(entry('N', 'campaignId: "48001"'))

    await host.apply()

    expect(host.newestCreate('N')).toMatchObject({ outcome: 'given-up' })
    expect((await host.plan()).exposure.before).toBe('100.00')
  })
})

describe('forget KEY where the entry has no campaign', () => {
  it('takes back that it is new', async () => {
    const { world, host } = await saidToBeNew()

    const said = host.decide().forget('K')
    await host.daemon()

    expect(said).toMatchObject({ kind: 'done', campaignId: null })
    expect(host.store.others()).toEqual([])
    expect(world.all).toHaveLength(2)
  })

  it.each(['K', 'k', 'b'])(
    '%s is no campaign, and nobody is told that it was let go',
    async (key) => {
      const { host } = opened(WITHOUT)
      await host.apply()
      host.file = fileOf(entry('B'), entry('K'))
      if (key !== 'b') host.decide().forget('K')

      const said = host.decide().forget(key)

      expect(said).toMatchObject({ kind: 'refused' })
      expect(host.store.others().map(({ id }) => id)).not.toContain(key)
    },
  )

  it('an id that no key is like is given up as before', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    const theirs = world.make('Spring fair')

    expect(host.decide().forget(theirs.id)).toMatchObject({ kind: 'done', campaignId: theirs.id })
  })
})

describe('forget ID, as the report of campaigns in no entry advises', () => {
  it('of one that was let go while its entry stays in the file: no second one is made beside it', async () => {
    const { world, host } = await installed(WITHOUT)
    host.decide().forget('K')
    const advice = findingOf(await host.plan(), 'unmanaged')?.needs

    host.decide().forget('48002')
    await host.daemon()
    const held = itemOf(await host.plan(), 'K')?.held
    await host.decide().isNew('K')
    await host.daemon()

    expect(advice).toContain('campaigns forget ID')
    expect(held).toMatchObject({ needs: expect.stringContaining('campaigns adopt K 48002') })
    expect(world.all).toHaveLength(3)
  })

  it('and its entry comes back a month later: no second one is made beside it, nor beside one of its name', async () => {
    const { world, host } = await installed(WITHOUT)
    host.file = fileOf(entry('B'))
    host.decide().forget('K')
    host.decide().forget('48002')
    const fair = world.make('Campaign F')
    host.decide().forget(fair.id)
    world.pass(30 * DAY)
    host.file = fileOf(entry('B'), entry('K'), entry('F'))

    await host.daemon()

    expect(world.all).toHaveLength(3)
    expect((await host.plan()).findings).toEqual([])
  })

  it('of one that was stopped first, as the advice about twins says: its entry is made', async () => {
    const { world, host } = await installed(WITHOUT)
    host.decide().forget('K')
    world.campaign('48002').status = 2
    host.decide().forget('48002')

    await host.daemon()

    expect(host.store.record('K')).toMatchObject({ campaignId: '48003' })
  })
})

describe('forget KEY of a campaign that the service does not show just then', () => {
  it('nothing is made instead of it, and the advice leads on', async () => {
    const { world, host } = await installed(WITHOUT)
    world.listed = (all) => all.filter(({ id }) => id !== '48002')
    const missing = { kind: 'fail', failure: failure.missing() } as const
    world.trouble = troubles({ on: 'get', id: '48002', trouble: missing })
    await host.daemon()

    host.decide().forget('K')
    world.pass(2 * DAY)
    await host.daemon()
    const held = itemOf(await host.plan(), 'K')?.held
    const before = world.all.length
    await host.decide().isNew('K')
    await host.daemon()

    expect(before).toBe(2)
    expect(held).toMatchObject({
      code: 'absence',
      reason: expect.stringContaining('48002'),
      needs: expect.stringContaining('campaigns create K --new'),
    })
    expect(host.store.record('K')).toMatchObject({ campaignId: '48003' })
  })
})
