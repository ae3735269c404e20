import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import { failure, installed, opened, troubles } from '../../../helpers/campaigns/world.ts'

/** The entry A under another key, with its name and without its `campaignId`. */
const RENAMED = fileOf(entry('NEW').replace('Campaign NEW', 'Campaign A'))

describe('the key of an entry is renamed without its campaignId, and its campaign runs on', () => {
  it('the service cuts names: no second campaign is made', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.book.knobs.nameLength = 8
    await host.apply()
    world.pass(2 * DAY)
    host.file = RENAMED

    await host.daemon()

    expect(world.all).toHaveLength(1)
    expect(itemOf(await host.plan(), 'NEW')?.held).toMatchObject({ cause: 'renamed' })
  })

  it('somebody gave the campaign another name on the service: no second campaign is made', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const one = world.campaign('48001')
    one.name = one.name.replace('Campaign A', 'Ask Bob')
    await host.daemon()
    world.pass(2 * DAY)
    host.file = RENAMED

    await host.daemon()

    expect(world.all).toHaveLength(1)
    expect(itemOf(await host.plan(), 'NEW')?.held).toMatchObject({ cause: 'renamed' })
  })

  it('the campaign cannot be read just now: no second campaign is made', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.pass(2 * DAY)
    host.file = RENAMED
    world.listed = () => []
    const problems = [failure.temporary(), failure.missing()]
    for (const problem of problems) {
      world.trouble = troubles({ on: 'get', trouble: { kind: 'fail', failure: problem } })
      await host.daemon()
    }

    expect(world.all).toHaveLength(1)
    expect(itemOf(await host.plan(), 'NEW')?.held).toMatchObject({ cause: 'renamed' })
  })

  it('the answer to its creation is still out: no second campaign is made, and it leads on once it is there', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    host.file = fileOf(entry('B'), entry('K'))
    const late = { kind: 'lost', afterMs: 10 * MINUTE } as const
    world.trouble = troubles({ on: 'create', times: 1, trouble: late })
    await host.daemon()
    const corrected = entry('K2').replace('Campaign K2', 'Campaign K')
    host.file = fileOf(entry('B'), corrected)

    await host.daemon()
    const held = itemOf(await host.plan(), 'K2')?.held
    world.pass(HOUR)
    await host.daemon()
    const found = itemOf(await host.plan(), 'K2')?.held
    host.file = fileOf(entry('B'), `${corrected}    campaignId: "48002"\n`)
    await host.apply()

    expect(world.all).toHaveLength(2)
    expect(held).toMatchObject({ reason: expect.stringContaining('of K') })
    expect(found).toMatchObject({ needs: expect.stringContaining('campaignId: "48002"') })
    expect(host.store.record('K2')).toMatchObject({ campaignId: '48002' })
  })
})

describe('a file that goes back to the key from before', () => {
  it('its campaign is known by its mark: no second one is made, and the advice leads on', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('NEW', 'campaignId: "48001"'))
    await host.apply()
    await host.apply()
    world.pass(DAY)
    host.file = fileOf(entry('A'))

    await host.daemon()
    const held = itemOf(await host.plan(), 'A')?.held
    host.file = fileOf(entry('A', 'campaignId: "48001"'))
    await host.apply()
    host.file = fileOf(entry('A'))

    expect(world.all).toHaveLength(1)
    expect(held).toMatchObject({ needs: expect.stringContaining('write campaignId: "48001"') })
    expect((await host.plan()).items).toEqual([])
    expect(world.campaign('48001').name).toMatch(/^Campaign A \[#/)
  })

  it('a person says that it is another campaign: it is made', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = RENAMED
    await host.daemon()

    await host.decide().isNew('NEW')
    await host.daemon()

    expect(world.all).toHaveLength(2)
  })
})

describe('two entries that name each other’s campaign', () => {
  it('neither moves on first: the ids are to be corrected', async () => {
    const { host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = fileOf(entry('A', 'campaignId: "48002"'), entry('B', 'campaignId: "48001"'))

    expect((await host.plan()).items.map(({ held }) => held?.needs)).toEqual([
      'correct campaignId',
      'correct campaignId',
    ])
  })
})

describe('keys that move on by one in the same edit', () => {
  const lowered = (text: string) => text.replace('"100.00"', '"60.00"')
  const MOVED = fileOf(
    entry('B', 'campaignId: "48001"'),
    lowered(entry('C', 'campaignId: "48002"')),
  )

  it('what is lowered there goes at once', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = MOVED

    await host.daemon()

    expect(world.all.map(({ budget }) => budget)).toEqual([100, 60])
  })

  it('applied twice, each campaign has its new key, and none is made', async () => {
    const { world, host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = MOVED
    const needs = itemOf(await host.plan(), 'B')?.held?.needs

    for (let n = 0; n < 3; n++) await host.apply()

    expect(needs).toBe(
      'feedsyncd campaigns apply --yes, then plan again: campaign 48002 goes to another entry first',
    )
    expect(host.store.records().map(({ key, campaignId }) => [key, campaignId])).toEqual([
      ['B', '48001'],
      ['C', '48002'],
    ])
    expect(world.all.map(({ name }) => name.slice(0, 10))).toEqual(['Campaign B', 'Campaign C'])
    expect((await host.plan()).items).toEqual([])
  })
})
