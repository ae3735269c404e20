import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf, findingOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  failure,
  type Host,
  installed,
  opened,
  troubles,
  World,
} from '../../../helpers/campaigns/world.ts'

const FOUR = fileOf(entry('K1'), entry('K2'), entry('K3'), entry('K4'))

const creates = (world: World) => world.calls.filter(({ kind }) => kind === 'create').length

describe('no second campaign', () => {
  it('new state directory, K1 adopted as told: the other three are not made again', async () => {
    const { world, host } = await installed(FOUR)
    host.lose()

    const plan = await host.plan()
    await host.decide().adopt('K1', '48001')
    for (let n = 0; n < 3; n++) {
      await host.daemon()
      await host.apply()
      world.pass(HOUR)
    }

    expect(itemOf(plan, 'K2')?.held).toMatchObject({ code: 'absence' })
    expect(itemOf(plan, 'K2')?.held?.reason).toContain('48002')
    expect(itemOf(plan, 'K2')?.held?.needs).toContain('campaigns adopt K2 48002')
    expect(world.all).toHaveLength(4)
  })

  it('address changes its spelling: the database is the same one, and tokens stay', async () => {
    const { world, host } = await installed(FOUR)
    host.address = 'https://other.example'

    const stopped = await host.plan()
    host.lose()
    await host.decide().adopt('K1', '48001')
    await host.apply()

    expect(stopped.stopped?.reason).toContain('the database belongs to the account')
    expect(world.all).toHaveLength(4)
  })

  it('database lost, K1 adopted, K2 was recreated once before: K2 is not made again', async () => {
    const { world, host } = await installed(fileOf(entry('K1'), entry('K2')))
    world.all.splice(1, 1)
    await host.daemon()
    world.pass(2 * HOUR)
    expect(await host.decide().isNew('K2')).toMatchObject({ kind: 'done' })
    await host.apply()
    expect(world.all.map(({ id }) => id)).toEqual(['48001', '48003'])

    host.lose()
    await host.decide().adopt('K1', '48001')
    await host.apply()
    const plan = await host.plan()

    expect(world.all).toHaveLength(2)
    expect(itemOf(plan, 'K2')?.held?.needs).toContain('campaigns adopt K2 48003')
  })

  it('two hosts start on an empty account in the same second: none is made twice', async () => {
    const world = World.open()
    const [one, two] = [world.host(FOUR), world.host(FOUR)]

    await Promise.all([one.daemon(), two.daemon()])
    const approved = await one.apply()
    await two.daemon()
    await two.apply()

    expect(approved).toHaveLength(4)
    expect(world.all).toHaveLength(4)
    expect((await two.plan()).summary.held).toBe(4)
  })

  it('names cut by the service, database lost: none is made twice', async () => {
    const world = World.open()
    world.book.knobs.nameLength = 10
    const host = world.host(FOUR)
    await host.apply()
    host.lose()

    await host.daemon()
    await host.apply()
    await host.decide().adopt('K1', '48001')
    await host.apply()

    expect(world.all).toHaveLength(4)
  })

  it('a successor asked for while the campaign answers by id: it is stopped before another one is made', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.listed = () => []

    await host.decide().isNew('A')
    await host.apply()
    const isPaused = world.campaign('48001').status
    world.listed = null
    await host.apply()

    expect(isPaused).toBe(3)
    expect(world.all.map(({ status }) => status)).toEqual([3, 1])
  })

  it('a lost campaign comes back after a recreate: it is said, and nothing is raised', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const [lost] = world.all.splice(0)
    await host.daemon()
    world.pass(2 * HOUR)
    await host.decide().isNew('A')
    await host.apply()

    if (lost !== undefined) world.all.push(lost)
    host.file = host.file.replace('100.00', '120.00')
    const run = await host.run()
    const plan = await host.plan()

    expect(findingOf(plan, 'twin', 'A')).toMatchObject({ campaignId: '48001', maySpend: '100.00' })
    expect(run.findings).toMatchObject([{ code: 'twin', key: 'A' }])
    expect(itemOf(plan, 'A')?.held).toMatchObject({ code: 'twin' })
    expect(plan.exposure.before).toBe('200.00')
    expect(world.campaign('48002').budget).toBe(100)
  })

  it.each([
    ['another’s campaign', '48001'],
    ['id 0', '0'],
  ])('answer to a create shows %s: nothing is ever written there', async (_, id) => {
    const world = World.open()
    const theirs = world.make('Of somebody else')
    const host = world.host(fileOf(entry('A')))
    await host.decide().isNew('A')
    world.shape = (shown, where) =>
      where === 'written' && shown.id !== theirs.id ? { ...shown, id } : shown

    const [made] = await host.apply()
    world.shape = (shown) => shown
    host.file = host.file.replace('100.00', '10.00')
    await host.apply()

    expect(made).toMatchObject({ outcome: 'adopted', campaignId: '48002' })
    expect(theirs).toMatchObject({ name: 'Of somebody else', budget: 50 })
    expect(world.campaign('48002').budget).toBe(10)
  })

  it('create --new said seconds after a lost answer, search lags: no second one', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.book.knobs.listedAfterMs = 10 * MINUTE
    world.trouble = troubles({ on: 'create', times: 1, trouble: { kind: 'lost' } })
    const [lost] = await host.apply()

    const early = await host.decide().isNew('A')
    await host.apply()
    world.pass(HOUR)
    const late = await host.decide().isNew('A')
    const [found] = await host.apply()

    expect(lost).toMatchObject({ outcome: 'unknown' })
    expect(early).toMatchObject({ kind: 'refused', isEarly: true })
    expect(late).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('it was created'),
    })
    expect(found).toMatchObject({ outcome: 'adopted', campaignId: '48001' })
    expect(world.all).toHaveLength(1)
  })

  it('paging under inserts and deletes: a campaign that a listing missed is read by its id', async () => {
    const { world, host } = await installed(FOUR)
    world.listed = (all) => all.filter(({ id }) => id !== '48003')

    const plan = await host.plan()
    await host.apply()

    expect(plan.items).toEqual([])
    expect(world.all).toHaveLength(4)
  })

  it('an older database: creates wait while the account has marks that it does not know', async () => {
    const { world, host } = await installed(fileOf(entry('K1')))
    const old = host.backup()
    host.file = FOUR
    await host.apply()
    host.restart()
    host.database = old

    await host.daemon()
    await host.apply()

    expect(world.all).toHaveLength(4)
    expect((await host.plan()).summary.held).toBe(3)
  })

  it.each([
    ['the database', () => {}],
    ['the whole state directory', (host: Host) => host.changeMark()],
  ])(
    '%s restored while lists are late: creates wait an hour, and are found then',
    async (_, moved) => {
      const { world, host } = await installed(fileOf(entry('K1')))
      const old = host.backup()
      host.file = fileOf(entry('K1'), entry('K2'))
      const approved = await host.plan()
      const [first] = world.all
      world.listed = () => (first === undefined ? [] : [first])
      await host.apply({ approved })
      host.restart()
      host.database = old
      moved(host)

      const again = await host.apply({ approved })
      const plan = await host.plan()
      await host.daemon()
      world.listed = null
      world.pass(2 * HOUR)
      await host.daemon()

      expect(again).toMatchObject([{ key: 'K2', outcome: 'stale' }])
      expect(itemOf(plan, 'K2')?.held).toMatchObject({ code: 'later' })
      expect(itemOf(plan, 'K2')?.held?.reason).toContain(
        'it is created from 2026-12-01T13:01:00.000Z on',
      )
      expect(itemOf(await host.plan(), 'K2')?.held).toMatchObject({ code: 'absence' })
      expect(world.all).toHaveLength(2)
    },
  )

  it('the host started again: creates go on after an hour, and reductions at once', async () => {
    const { world, host } = await installed(fileOf(entry('K1')))
    host.changeMark()
    host.file = fileOf(entry('K1').replace('100.00', '80.00'), entry('K2'))

    await host.daemon()
    const before = world.all.map(({ budget }) => budget)
    world.pass(HOUR)
    await host.daemon()

    expect(before).toEqual([80])
    expect(world.all).toHaveLength(2)
  })

  it('a service that does not keep the token: an entry like a campaign that is there waits', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    await host.apply()
    world.shape = (shown) => ({ ...shown, name: String(shown.name).replace(/ \[.*/, '') })
    world.make('Campaign B')
    host.file = fileOf(entry('A'), entry('B'))

    await host.daemon()
    const plan = await host.plan()

    expect(itemOf(plan, 'B')?.held).toMatchObject({ code: 'absence' })
    expect(world.all).toHaveLength(2)
  })

  it('database lost while a campaign runs: the advice is its campaign, and not another startDate', async () => {
    const { host } = await installed(fileOf(entry('A', 'startDate: 2026-12-02')))
    host.world.pass(30 * DAY)
    host.lose()

    const held = itemOf(await host.plan(), 'A')?.held
    await host.decide().adopt('A', '48001')

    expect(held).toMatchObject({
      code: 'absence',
      needs: expect.stringContaining('campaigns adopt A 48001'),
    })
    expect((await host.plan()).summary).toMatchObject({ held: 0, unchanged: 1 })
  })

  it('adopt --marked takes all at once, and nothing is written or made', async () => {
    const { world, host } = await installed(FOUR)
    host.lose()
    const decider = host.decide()

    const found = await decider.marked()
    if (found.kind !== 'done') throw new Error('nothing was found')
    decider.adoptAll(found.pairs)
    const plan = await host.plan()

    expect(found.pairs.map(({ key, campaign }) => [key, campaign.id])).toEqual([
      ...[
        ['K1', '48001'],
        ['K2', '48002'],
        ['K3', '48003'],
        ['K4', '48004'],
      ],
    ])
    expect(plan.items).toEqual([])
    expect(creates(world)).toBe(4)
  })

  it('key renamed in the file without its campaignId: the running campaign of that name is no reason for a second one', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('NEW').replace('Campaign NEW', 'Campaign A'))

    await host.daemon()
    const held = itemOf(await host.plan(), 'NEW')?.held
    await host.decide().isNew('NEW')
    await host.daemon()

    expect(held).toMatchObject({
      code: 'absence',
      needs: expect.stringContaining('campaignId: "48001"'),
    })
    expect(world.all.map(({ name }) => name.slice(0, 10))).toEqual(['Campaign A', 'Campaign A'])
    expect(creates(world)).toBe(2)
  })

  it('a create that a gateway answered with 502 is looked for at once, and the others go on', async () => {
    const { world, host } = await installed(fileOf(entry('Z')))
    host.file = fileOf(entry('Z'), entry('A'), entry('B'))
    let creates = 0
    world.trouble = ({ kind }) => (kind === 'create' && ++creates === 1 ? { kind: 'lost' } : null)

    const results = await host.apply()

    expect(results.map(({ key, outcome }) => `${outcome} ${key}`)).toEqual([
      'adopted A',
      'created B',
    ])
  })

  it('a person’s word is for one entry, and ends when another campaign shows up', async () => {
    const world = World.open()
    world.make('Old fair')
    const host = world.host(fileOf(entry('A'), entry('B')))
    await host.decide().isNew('A')

    world.make('Another')
    const plan = await host.plan()
    await host.decide().isNew('A')
    await host.apply()

    expect(itemOf(plan, 'A')?.held?.reason).toContain('Another')
    expect(itemOf(plan, 'A')?.held?.reason).not.toContain('Old fair')
    expect(world.all.map(({ name }) => name.slice(0, 10))).toEqual([
      'Old fair',
      'Another',
      'Campaign A',
    ])
  })

  it('a create that is refused for its credentials is made once they are good', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.trouble = troubles({
      on: 'create',
      times: 1,
      trouble: { kind: 'fail', failure: failure.credentials() },
    })

    await host.apply()
    await host.daemon()

    expect(world.all).toHaveLength(1)
  })
})
