import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import { failure, installed, Killed, opened, troubles } from '../../helpers/campaigns/world.ts'

/** retargeted returns an account where campaign A has the state MA, and the file asks for ON. */
async function retargeted() {
  const given = await installed(fileOf(entry('A', states('MA'))))
  given.world.calls.splice(0)
  given.host.file = fileOf(entry('A', states('ON')))
  return given
}

const statesOf = ({ targeting }: { targeting: unknown }) =>
  (targeting as { stateProvCodes?: string[] }).stateProvCodes

describe('the daemon', () => {
  it('sends the complete targeting of a pending entry and no other field, reads the campaign before and after, and the entry is in line', async () => {
    const { world, host } = await retargeted()

    const { entries } = await host.plan()
    world.calls.splice(0)
    const results = await host.daemon()

    expect(entries).toMatchObject([{ state: 'pending', next: null }])
    expect(results).toMatchObject([{ key: 'A', campaignId: '48001', outcome: 'done' }])
    expect(world.calls.map(({ kind }) => kind)).toEqual(['get', 'update', 'get'])
    expect(world.writes()[0]?.body).toEqual({
      targeting: {
        ...{ cities: [], externalCampaignId: 'A', requisitionIds: [], jobDescKeywords: [] },
        ...{ jobTitles: [], postalCodes: [], stateProvCodes: ['ON'] },
      },
    })
    expect((await host.plan()).entries).toMatchObject([{ state: 'in line' }])
  })

  it('makes no call if the file has the targeting that was sent last', async () => {
    const { world, host } = await retargeted()
    await host.daemon()
    world.calls.splice(0)
    world.pass(2 * HOUR)

    expect(await host.daemon()).toEqual([])
    expect(world.calls).toEqual([])
  })

  it('sends each targeting once more after an old database was restored', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    const backup = host.backup()
    host.file = fileOf(entry('A', states('ON')))
    await host.daemon()

    host.restore(backup, 'database')
    host.file = fileOf(entry('A', states('MA')))
    await host.daemon()
    const healed = statesOf(world.campaign('48001'))
    world.calls.splice(0)
    await host.daemon()

    expect(healed).toEqual(['MA'])
    expect(world.writes()).toEqual([])
  })

  it('does not undo targeting that a person set on the service, and the entry differs', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    world.book.knobs.echo = (targeting) => targeting
    world.campaign('48001').targeting = { externalCampaignId: 'A', stateProvCodes: ['RI'] }

    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
    expect(await host.daemon()).toEqual([])
  })

  it('leaves the first targeting of a binding to a person, and sends the later ones', async () => {
    const { world, host } = opened(
      fileOf(entry('A').replace('targeting: all', 'campaignId: "48001"')),
    )
    world.make('Campaign A', { budget: 100 })
    await host.apply()
    host.file = fileOf(entry('A', `campaignId: "48001"\n${states('MA')}`))

    expect(await host.daemon()).toEqual([])
    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
    await host.apply()
    host.file = fileOf(entry('A', `campaignId: "48001"\n${states('ON')}`))
    expect(await host.daemon()).toMatchObject([{ outcome: 'done' }])
  })

  it.each([
    ['the file lowers the budget', 'differs', { file: '90.00' }],
    ['a person raised the budget', 'differs', { shown: { budget: 500 } }],
    ['a person paused it', 'differs', { shown: { status: 3 }, fields: 'status: running\n' }],
    ['the budget is not known', 'differs', { shown: { budget: null } }],
    ['it is archived', 'blocked', { shown: { status: 2 } }],
    [
      'it carries the mark of another entry',
      'blocked',
      { shown: { name: 'Of others [#zzzzzzzzzz]' } },
    ],
    ['it is gone', 'blocked', { gone: true }],
  ])('sends nothing to a campaign if %s, and its entry is then %s', async (_, state, given) => {
    const {
      file = '100.00',
      shown = {},
      fields = '',
      gone = false,
    } = {
      ...(given as { file?: string; shown?: object; fields?: string; gone?: boolean }),
    }
    const { world, host } = await retargeted()
    host.file = fileOf(entry('A', fields + states('ON'), file))
    Object.assign(world.campaign('48001'), shown)
    if (gone) world.all.splice(0)

    await host.daemon()

    expect(world.writes()).toEqual([])
    expect((await host.plan()).entries[0]?.state).toBe(state)
  })

  it('sends targeting even if the name differs, because a name spends nothing, and leaves the name', async () => {
    const { world, host } = await retargeted()
    world.campaign('48001').name = 'Something else'

    expect(await host.daemon()).toMatchObject([{ outcome: 'done' }])
    expect(world.campaign('48001').name).toBe('Something else')
  })

  it('sends nothing if the file names another campaign for the entry', async () => {
    const { world, host } = await retargeted()
    world.make('Other')
    host.file = fileOf(entry('A', `campaignId: "48002"\n${states('ON')}`))

    expect(await host.daemon()).toEqual([])
  })

  it('creates, binds and lowers nothing', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.make('Campaign C')
    const file = [entry('A', '', '90.00'), entry('B'), entry('C', 'campaignId: "48002"')]
    host.file = fileOf(...file)
    const before = world.writes().length

    expect(await host.daemon()).toEqual([])
    expect(world.writes()).toHaveLength(before)
  })

  it('stops when the file changes or the service does not answer', async () => {
    const both = (...codes: string[]) =>
      fileOf(entry('A', states(...codes)), entry('B', states(...codes)))
    const { world, host } = await installed(both('MA'))
    host.file = both('ON')
    const { file } = host
    world.trouble = troubles({
      ...{ on: 'get', trouble: { kind: 'fail', failure: failure.temporary() } },
    })
    const down = await host.daemon()
    world.trouble = ({ kind }) => {
      if (kind === 'update') host.file = `${file}# saved\n`
      return null
    }
    const changed = await host.daemon()

    expect(down).toMatchObject([{ key: 'A', outcome: 'not-sent' }])
    expect(changed).toMatchObject([{ key: 'A', outcome: 'done' }])
    expect(world.all.map(statesOf)).toEqual([['ON'], ['MA']])
  })
})

describe('a targeting write without a known result', () => {
  it('is sent again at once, and once more after an hour in case the first write arrived late', async () => {
    const { world, host } = await retargeted()
    world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'lost', afterMs: MINUTE } })
    await host.daemon()
    host.file = fileOf(entry('A', states('RI')))
    await host.daemon()
    const sent = world.writes().length
    world.pass(2 * MINUTE)
    const [late] = world.all.map(statesOf)
    const early = await host.daemon()
    world.pass(HOUR)
    const repeated = await host.daemon()
    world.pass(2 * HOUR)
    const quiet = await host.daemon()

    expect([sent, late, early]).toEqual([3, ['ON'], []])
    expect(repeated).toMatchObject([{ outcome: 'done' }])
    expect([world.all.map(statesOf), quiet]).toEqual([[['RI']], []])
  })

  it('is not sent again after a person raised the budget or the file changed', async () => {
    const again = async (meanwhile: (given: Awaited<ReturnType<typeof retargeted>>) => void) => {
      const given = await retargeted()
      const { world, host } = given
      world.trouble = ({ kind }) => {
        if (kind !== 'update') return null
        meanwhile(given)
        return { kind: 'fail', failure: failure.temporary() }
      }
      await host.daemon()
      return world.writes().length
    }

    expect(await again(() => {})).toBe(2)
    expect(
      await again(({ world }) => Object.assign(world.campaign('48001'), { budget: 500 })),
    ).toBe(1)
    expect(await again(({ host }) => Object.assign(host, { file: fileOf(entry('A')) }))).toBe(1)
  })

  it('is sent again by the next process if its process was killed', async () => {
    const { world, host } = await retargeted()
    world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'die', when: 'before' } })
    await expect(host.daemon()).rejects.toThrow(Killed)

    expect(await host.daemon()).toMatchObject([{ outcome: 'done' }])
    expect(world.all.map(statesOf)).toEqual([['ON']])
  })

  it('is unknown, and its entry waits for the daemon without a line in the plan, if the service does not show targeting', async () => {
    const { world, host } = await retargeted()
    world.trouble = troubles({
      ...{ on: 'update', trouble: { kind: 'fail', failure: failure.temporary() } },
    })

    expect(await host.daemon()).toMatchObject([{ outcome: 'unknown' }])
    const { entries, items } = await host.plan()
    expect(entries).toMatchObject([{ state: 'pending', reason: expect.stringContaining('again') }])
    // For the hour until the repeat there is nothing for a person to send.
    expect(items).toEqual([])
  })

  it('is reported, and repeated once after an hour, if the service ignores it; then the entry differs', async () => {
    const { world, host } = await retargeted()
    Object.assign(world.book.knobs, { echo: (one: unknown) => one, ignored: ['targeting'] })
    const told = await host.daemon()
    world.pass(HOUR)
    await host.daemon()
    world.pass(HOUR)
    const quiet = await host.daemon()

    expect(told).toMatchObject([{ reason: 'the service accepted it, but shows another targeting' }])
    expect([world.writes().length, quiet]).toEqual([4, []])
    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
  })
})

describe('if the service shows targeting in its own form', () => {
  const oddly = (targeting: Record<string, unknown> | null) =>
    targeting && {
      ...targeting,
      jobTitles: String(targeting.jobTitles) || undefined,
      all: `${targeting.stateProvCodes} only`,
    }

  it('a write over the targeting of a person is reported once, and the entry is then in line', async () => {
    const { world, host } = await retargeted()
    world.book.knobs.echo = oddly
    const told = await host.daemon()
    host.file = fileOf(entry('A', 'targeting: { stateProvCodes: [ON], jobTitles: [nurse] }'))
    world.campaign('48001').targeting = { externalCampaignId: 'A', stateProvCodes: ['RI'] }
    const odd = await host.daemon()
    world.pass(2 * HOUR)

    expect(told).toMatchObject([{ outcome: 'done' }])
    expect(odd).toMatchObject([{ outcome: 'not-as-sent' }])
    expect((await host.plan()).entries).toMatchObject([{ state: 'in line' }])
    expect(await host.daemon()).toEqual([])
  })

  it('an entry is in line even if the case differs, and differs when a person changes the targeting', async () => {
    const { world, host } = await retargeted()
    world.book.knobs.echo = (one) => JSON.parse(JSON.stringify(one).replace('nurse', 'NURSE'))
    host.file = fileOf(entry('A', 'targeting: { stateProvCodes: [MA], jobTitles: [nurse] }'))
    await host.daemon()

    expect((await host.plan()).entries).toMatchObject([{ state: 'in line' }])
    world.campaign('48001').targeting = { externalCampaignId: 'A', jobTitles: ['cook'] }
    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
  })

  it('a targeting that a person wrote still differs after the service ignored our write', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    Object.assign(world.book.knobs, { echo: oddly, ignored: ['targeting'] })
    world.campaign('48001').targeting = { externalCampaignId: 'A', stateProvCodes: ['RI'] }
    host.file = fileOf(entry('A', states('ON')))
    await host.daemon()
    const repeated = await host.plan()
    world.pass(HOUR)
    await host.daemon()

    expect(repeated.entries).toMatchObject([{ state: 'pending' }])
    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
  })

  it('an entry differs if the service shows a targeting without its id', async () => {
    const { world, host } = opened(fileOf(entry('A', states('MA'))))
    world.book.knobs.echo = () => ({ stateProvCodes: [] })
    await host.apply()

    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
  })
})
