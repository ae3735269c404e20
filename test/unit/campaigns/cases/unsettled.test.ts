import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../../src/lib/clock.ts'
import { entry, fileOf, itemOf } from '../../../helpers/campaigns/reconciling.ts'
import {
  createDirectly,
  failure,
  type Host,
  installed,
  type Trouble,
  troubles,
} from '../../../helpers/campaigns/world.ts'

const BOTH = fileOf(entry('B'), entry('K'))

const late = { kind: 'lost', afterMs: 10 * MINUTE } as const
const refusal = { kind: 'fail', failure: failure.refused() } as const
const never = { kind: 'fail', failure: failure.temporary() } as const
const onCreate = (trouble: Trouble) => troubles({ on: 'create', trouble, times: 1 })

/** `campaigns create` of a person; its name carries no mark. */
const direct = (host: Host, key: string, name = `Fair ${key}`) =>
  createDirectly(host.person(), { name, budget: 50, targeting: { externalCampaignId: key } }, false)

/** Entry K was sent and not answered; it arrives ten minutes later. */
async function sentWithoutAnswer() {
  const { world, host } = await installed(fileOf(entry('B')))
  host.file = BOTH
  world.trouble = onCreate(late)
  await host.daemon()
  return { world, host }
}

describe('a create without an answer, and a direct create of its key', () => {
  it('the direct one is refused: the other is waited for, and found, and no second one is made', async () => {
    const { world, host } = await sentWithoutAnswer()
    world.trouble = onCreate(refusal)
    await direct(host, 'K')
    world.trouble = () => null

    await host.daemon()
    const held = itemOf(await host.plan(), 'K')?.held
    world.pass(HOUR)
    await host.daemon()

    expect(held).toMatchObject({ code: 'unknown' })
    expect(world.all).toHaveLength(2)
    expect(host.store.record('K')).toMatchObject({ campaignId: '48002', origin: 'recovered' })
  })

  it('neither is answered: both count, and one word after an hour ends the wait for both', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    host.file = BOTH
    world.trouble = onCreate(never)
    await host.daemon()
    world.trouble = onCreate(never)
    await direct(host, 'K')

    const { exposure } = await host.plan()
    const early = await host.decide().isNew('K')
    world.pass(HOUR)
    const said = await host.decide().isNew('K')
    await host.daemon()

    expect(exposure.before).toBe('250.00')
    expect(early).toMatchObject({ kind: 'refused', isEarly: true })
    expect(said).toMatchObject({ kind: 'done' })
    expect(world.all).toHaveLength(2)
    expect((await host.plan()).exposure.before).toBe('200.00')
  })

  it('the first one shows up by its mark, whatever became of the direct one', async () => {
    const { world, host } = await sentWithoutAnswer()
    world.trouble = onCreate(never)
    await direct(host, 'K')
    world.pass(HOUR)

    await host.daemon()

    expect(host.store.record('K')).toMatchObject({ campaignId: '48002', origin: 'recovered' })
  })

  it('the campaign of the first one is adopted by hand: its mark proves what was written', async () => {
    const { world, host } = await sentWithoutAnswer()
    world.trouble = onCreate(never)
    await direct(host, 'K')
    world.pass(HOUR)

    await host.decide().adopt('K', '48002')

    expect(host.store.record('K')).toMatchObject({
      origin: 'recovered',
      written: { period: 'once' },
    })
    expect(host.store.open()).toMatchObject([{ outcome: 'given-up', isDirect: true }])
  })
})

describe('a create without an answer whose entry is not in the file any more', () => {
  const ONLY_B = fileOf(entry('B'))

  async function neverMade(file: string) {
    const { world, host } = await installed(ONLY_B)
    host.file = BOTH
    world.trouble = onCreate(never)
    await host.daemon()
    host.file = file
    return { world, host }
  }

  it.each([
    ['taken out', ONLY_B],
    [
      'listed under removed',
      `${ONLY_B}removed:\n  - { externalCampaignId: K, endDate: 2027-01-31 }\n`,
    ],
  ])('%s: it is said, and its advice ends the wait after an hour', async (_, file) => {
    const { world, host } = await neverMade(file)

    const plan = await host.plan()
    const early = await host.decide().isNew('K')
    world.pass(HOUR)
    const said = await host.decide().isNew('K')
    await host.daemon()
    const after = await host.plan()

    expect(itemOf(plan, 'K')?.held).toMatchObject({
      code: 'unknown',
      needs: expect.stringContaining('campaigns create K --new'),
    })
    expect(early).toMatchObject({ kind: 'refused', isEarly: true })
    expect(said).toMatchObject({ kind: 'done', campaignId: null })
    expect([plan.exposure.before, after.exposure.before]).toEqual(['200.00', '100.00'])
    expect(host.store.newEntries().size).toBe(0)
    expect(world.all).toHaveLength(1)
  })

  it('a direct create of a key that has a campaign: its advice ends the wait', async () => {
    const { world, host } = await installed(ONLY_B)
    world.trouble = onCreate(never)
    await direct(host, 'B')

    const plan = await host.plan()
    const said = await host.decide().adopt('B', '48001')

    expect(itemOf(plan, 'B')?.held).toMatchObject({
      code: 'unknown',
      needs: expect.stringContaining('campaigns adopt B 48001'),
    })
    expect(said).toMatchObject({ kind: 'done' })
    expect((await host.plan()).exposure.before).toBe('100.00')
  })

  it('a direct create of no key counts until lists had the time to show it', async () => {
    const { world, host } = await installed(ONLY_B)
    world.trouble = onCreate(never)
    await createDirectly(host.person(), { name: 'Fair', budget: 50, targeting: {} }, true)

    await host.daemon()
    const { exposure } = await host.plan()
    world.pass(HOUR)
    await host.daemon()

    expect(exposure.before).toBe('150.00')
    expect((await host.plan()).exposure.before).toBe('100.00')
  })
})

describe('a create without an answer that shows up without its mark', () => {
  it('the service cut the name: what looks like it is named, and the advice leads on', async () => {
    const { world, host } = await installed(fileOf(entry('B')))
    host.file = BOTH
    world.book.knobs.nameLength = 12
    world.trouble = onCreate({ kind: 'lost' })
    await host.daemon()

    const held = itemOf(await host.plan(), 'K')?.held
    await host.decide().adopt('K', '48002')
    await host.apply()

    expect(held).toMatchObject({
      code: 'unknown',
      reason: expect.stringContaining('48002 "Campaign K ['),
      needs: expect.stringContaining('campaigns adopt K 48002'),
    })
    expect(world.all).toHaveLength(2)
  })

  it('somebody copied it meanwhile, with its mark: both are named', async () => {
    const { world, host } = await sentWithoutAnswer()
    world.pass(HOUR)
    world.make(`${world.campaign('48002').name} (copy)`)

    await host.daemon()

    expect(itemOf(await host.plan(), 'K')?.held).toMatchObject({
      code: 'unknown',
      reason: expect.stringMatching(/48002 .*48003/),
    })
  })
})
