import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import { failure, installed, Killed, opened, troubles } from '../../helpers/campaigns/world.ts'

/** A is there for MA; the file says ON. */
async function retargeted() {
  const given = await installed(fileOf(entry('A', states('MA'))))
  given.world.calls.splice(0)
  given.host.file = fileOf(entry('A', states('ON')))
  return given
}

const statesOf = ({ targeting }: { targeting: unknown }) =>
  (targeting as { stateProvCodes?: string[] }).stateProvCodes

describe('the daemon', () => {
  it('sends the targeting of the file, whole and alone', async () => {
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

  it('calls nothing where the file says what was sent last', async () => {
    const { world, host } = await retargeted()
    await host.daemon()
    world.calls.splice(0)
    world.pass(2 * HOUR)

    expect(await host.daemon()).toEqual([])
    expect(world.calls).toEqual([])
  })

  it('sends each targeting once more after its database was put back, which may not know the last one', async () => {
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

  it('undoes nobody’s targeting on the service', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    world.book.knobs.echo = (targeting) => targeting
    world.campaign('48001').targeting = { externalCampaignId: 'A', stateProvCodes: ['RI'] }

    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
    expect(await host.daemon()).toEqual([])
  })

  it('leaves the first targeting of a binding to a person', async () => {
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
    ['the file lowers the budget', { file: '90.00' }],
    ['somebody raised the budget', { there: { budget: 500 } }],
    ['somebody paused it', { there: { status: 3 }, fields: 'status: running\n' }],
    ['the budget is not known', { there: { budget: null } }],
    ['it is archived', { there: { status: 2 } }],
    ['it carries the mark of another entry', { there: { name: 'Of others [#zzzzzzzzzz]' } }],
    ['it is gone', { gone: true }],
  ])('leaves a campaign whole to apply where %s', async (_, given) => {
    const {
      file = '100.00',
      there = {},
      fields = '',
      gone = false,
    } = {
      ...(given as { file?: string; there?: object; fields?: string; gone?: boolean }),
    }
    const { world, host } = await retargeted()
    host.file = fileOf(entry('A', fields + states('ON'), file))
    Object.assign(world.campaign('48001'), there)
    if (gone) world.all.splice(0)

    await host.daemon()

    expect(world.writes()).toEqual([])
    expect((await host.plan()).entries[0]?.state).toMatch(/^(differs|blocked|pending)$/)
  })

  it('minds no name: it spends nothing', async () => {
    const { world, host } = await retargeted()
    world.campaign('48001').name = 'Something else'

    expect(await host.daemon()).toMatchObject([{ outcome: 'done' }])
    expect(world.campaign('48001').name).toBe('Something else')
  })

  it('sends nothing to a campaign that the file names otherwise', async () => {
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

    expect(await host.daemon()).toEqual([])
  })

  it('stops when the file changes, and when the service does not answer', async () => {
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

describe('a targeting without a clear end', () => {
  it('is sent again at once, and once more after an hour: what was late may have come over it', async () => {
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

  it('is not sent again over a budget that somebody raised, nor after the file changed', async () => {
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

  it('of a process that was killed is sent again by the next one', async () => {
    const { world, host } = await retargeted()
    world.trouble = troubles({ on: 'update', times: 1, trouble: { kind: 'die', when: 'before' } })
    await expect(host.daemon()).rejects.toThrow(Killed)

    expect(await host.daemon()).toMatchObject([{ outcome: 'done' }])
    expect(world.all.map(statesOf)).toEqual([['ON']])
  })

  it('is not known while it is not shown, and waits for the daemon', async () => {
    const { world, host } = await retargeted()
    world.trouble = troubles({
      ...{ on: 'update', trouble: { kind: 'fail', failure: failure.temporary() } },
    })

    expect(await host.daemon()).toMatchObject([{ outcome: 'unknown' }])
    expect((await host.plan()).entries).toMatchObject([{ state: 'pending' }])
  })

  it('that the service ignores is told, sent again after an hour, and then left alone', async () => {
    const { world, host } = await retargeted()
    Object.assign(world.book.knobs, { echo: (one: unknown) => one, ignored: ['targeting'] })
    const told = await host.daemon()
    world.pass(HOUR)
    await host.daemon()
    world.pass(HOUR)
    const quiet = await host.daemon()

    expect(told).toMatchObject([
      { reason: 'it was accepted, and the service shows another targeting' },
    ])
    expect([world.writes().length, quiet]).toEqual([4, []])
    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
  })
})

describe('a service with its own form of targeting', () => {
  const oddly = (targeting: Record<string, unknown> | null) =>
    targeting && { ...targeting, jobTitles: undefined, all: `${targeting.stateProvCodes} only` }

  it('is told once, is in line then, and is not written to again', async () => {
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

  it('is in line also where it folds capitals, and differs once somebody changes it', async () => {
    const { world, host } = await retargeted()
    world.book.knobs.echo = (one) => JSON.parse(JSON.stringify(one).replace('nurse', 'NURSE'))
    host.file = fileOf(entry('A', 'targeting: { jobTitles: [nurse] }'))
    await host.daemon()

    expect((await host.plan()).entries).toMatchObject([{ state: 'in line' }])
    world.campaign('48001').targeting = { externalCampaignId: 'A', jobTitles: ['cook'] }
    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
  })

  it('that ignores a write is not taken for one: what somebody else wrote stays told', async () => {
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

  it('that shows another id, or none, has not what was sent', async () => {
    const { world, host } = opened(fileOf(entry('A', states('MA'))))
    world.book.knobs.echo = () => ({ stateProvCodes: [] })
    await host.apply()

    expect((await host.plan()).entries).toMatchObject([{ state: 'differs' }])
  })
})
