// Each test is a way in which money was once spent, or hidden, without a word.

import { describe, expect, it } from 'vitest'
import { markOf } from '../../../src/campaigns/mark.ts'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import type { Fields } from '../../helpers/campaigns/book.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import {
  IDENTITY,
  installed,
  Killed,
  opened,
  troubles,
  type World,
} from '../../helpers/campaigns/world.ts'

const stateOf = (key: string, { entries }: { entries: { key: string; state: string }[] }) =>
  entries.find((one) => one.key === key)?.state

describe('a targeting that the service shows', () => {
  const sent = 'targeting: { stateProvCodes: [ON], jobTitles: [nurse] }'
  const without = (name: string) => (targeting: Fields | null) => {
    const { [name]: _, ...rest } = targeting ?? {}
    return rest
  }
  const plus = (more: Fields) => (targeting: Fields | null) => ({ ...targeting, ...more })

  it.each<[string, (targeting: Fields | null) => unknown]>([
    ['without the states', without('stateProvCodes')],
    ['without the titles', without('jobTitles')],
    ['with an empty list', plus({ jobTitles: [] })],
    ['with another state', plus({ stateProvCodes: ['ON', 'RI'] })],
    ['with requisition ids', plus({ requisitionIds: ['R-1'] })],
    ['with requisition ids in a form that cannot be read', plus({ requisitionIds: 'R-1' })],
    ['as null', () => null],
  ])('%s is reported and pending, because it can be wider than what was sent', async (_, echo) => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    world.book.knobs.echo = echo
    host.file = fileOf(entry('A', sent))

    const applied = await host.daemon()

    expect(applied).toMatchObject([{ key: 'A', outcome: 'not-as-sent' }])
    expect(stateOf('A', await host.plan())).toBe('pending')
  })

  it.each<[string, (targeting: Fields | null) => unknown]>([
    ['in capitals', (one) => JSON.parse(JSON.stringify(one).replace('nurse', 'NURSE'))],
    ['as one text', plus({ stateProvCodes: 'ON' })],
    ['with one criterion more', plus({ postalCodes: ['02139'] })],
  ])('%s is in line after our write, because it is only another form', async (_, echo) => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    world.book.knobs.echo = echo
    host.file = fileOf(entry('A', sent))
    await host.daemon()

    expect(stateOf('A', await host.plan())).toBe('in line')
  })

  it('wider than a create sent it makes the create not-as-sent, and the entry differ', async () => {
    const { world, host } = opened(fileOf(entry('A', sent)))
    world.book.knobs.echo = without('jobTitles')

    expect(await host.apply()).toMatchObject([{ action: 'create', outcome: 'not-as-sent' }])
    expect(stateOf('A', await host.plan())).toBe('differs')
  })
})

describe('requisition ids, which can select postings of another external campaign id', () => {
  const pinned = 'targeting: { requisitionIds: [R-1] }\nallowWiden: true'

  it('are sent by a person and never by the daemon, for which the entry differs', async () => {
    const { host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('A', pinned))

    expect(await host.daemon()).toEqual([])
    expect(stateOf('A', await host.plan())).toBe('differs')
    expect(await host.apply()).toMatchObject([{ outcome: 'done' }])
  })

  it('are removed by the daemon, because that only narrows', async () => {
    const { world, host } = await installed(fileOf(entry('A', pinned)))
    host.file = fileOf(entry('A'))

    expect(await host.daemon()).toMatchObject([{ outcome: 'done' }])
    expect(world.campaign('48001').targeting).toMatchObject({ requisitionIds: [] })
  })
})

describe('a create without a known result', () => {
  const lost = () =>
    troubles({ on: 'create', times: 1, trouble: { kind: 'lost', afterMs: 30 * MINUTE } })

  it('is told after its key was corrected, and blocks a create with the same name', async () => {
    const { world, host } = opened(fileOf(entry('NURSE', 'name: Nurses')))
    world.trouble = lost()
    await host.apply()
    host.file = fileOf(entry('NURSES', 'name: Nurses'))

    const plan = await host.plan()
    await host.apply()

    expect(plan.findings).toMatchObject([{ code: 'open-creation', key: 'NURSE' }])
    expect(stateOf('NURSES', plan)).toBe('blocked')
    expect(world.calls.filter(({ kind }) => kind === 'create')).toHaveLength(1)
  })

  it('is told if its entry left the file', async () => {
    const { world, host } = opened(fileOf(entry('A'), entry('B')))
    world.trouble = lost()
    await host.apply()
    host.file = fileOf(entry('B', 'name: Another'))

    expect((await host.plan()).findings).toMatchObject([{ code: 'open-creation', key: 'A' }])
  })

  it('stays open for an hour even after forget, and is then created again', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.trouble = troubles({ on: 'create', times: 1, trouble: { kind: 'die', when: 'before' } })
    await expect(host.apply()).rejects.toThrow(Killed)
    host.forget('A')
    await host.apply()
    const within = world.all.length
    world.pass(HOUR + MINUTE)
    await host.apply()

    expect([within, world.all.length]).toEqual([0, 1])
  })

  it('stays open if its row is from the future, as after a wrong clock', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.trouble = lost()
    world.now += 3 * HOUR
    await host.apply()
    world.now -= 3 * HOUR

    expect(stateOf('A', await host.plan())).toBe('unknown')
  })
})

describe('a create that the service carries out otherwise', () => {
  it.each<[string, string, Fields]>([
    ['monthly for once', '', { period: 1 }],
    ['monthly for period: once', 'period: once', { period: 1 }],
    ['without the end', 'endDate: 2027-03-31', { endDate: null }],
    ['running for paused', 'status: paused', { status: 1 }],
    ['with another budget', '', { budget: 1000 }],
  ])('%s is not-as-sent, and no other create follows', async (_, fields, made) => {
    const { world, host } = opened(fileOf(entry('A', fields), entry('B', fields)))
    world.onCreated = (one) => Object.assign(one, made)

    const results = await host.apply()

    expect(results).toMatchObject([{ key: 'A', outcome: 'not-as-sent', campaignId: '48001' }])
    expect(world.all).toHaveLength(1)
  })
})

describe('a campaign whose create had no answer is found by the ten characters of its mark', () => {
  const mark = markOf(IDENTITY, 'A')
  const kept: [string, (world: World) => void][] = [
    ['without brackets', renamed(`Campaign A ${mark}`)],
    ['in capitals', renamed(`Campaign A #${mark.toUpperCase()}`)],
    ['escaped', renamed(`Campaign A &#91;#${mark}&#93;`)],
    ['before the name', renamed(`(${mark}) Campaign A`)],
  ]
  function renamed(name: string) {
    return (world: World) => {
      world.onCreated = (one) => {
        one.name = name
      }
    }
  }

  it.each(kept)('%s', async (_, keep) => {
    const { world, host } = opened(fileOf(entry('A')))
    keep(world)
    world.trouble = troubles({ on: 'create', times: 1, trouble: { kind: 'lost' } })
    await host.apply()
    world.pass(HOUR + MINUTE)

    const results = await host.apply()
    const { entries } = await host.plan()

    expect(results).toMatchObject([{ action: 'bind', campaignId: '48001' }])
    expect(entries).toMatchObject([{ state: 'in line' }])
    expect(world.all).toHaveLength(1)
  })
})

it('a campaign whose create had no answer blocks a second create if the service cut its name', async () => {
  const { world, host } = opened(fileOf(entry('A')))
  world.book.knobs.nameLength = 7
  world.trouble = troubles({ on: 'create', times: 1, trouble: { kind: 'lost' } })
  await host.apply()
  world.pass(HOUR + MINUTE)

  expect(stateOf('A', await host.plan())).toBe('blocked')
  await host.apply()
  expect(world.all).toHaveLength(1)
})

it('a campaign that a listing shows without its name is read by id, and bound instead of created again', async () => {
  const { world, host } = await installed(fileOf(entry('A')))
  world.shape = ({ name, ...shown }, where) => (where === 'listed' ? shown : { name, ...shown })
  host.lose('directory')
  world.pass(2 * HOUR)

  expect((await host.plan()).items).toMatchObject([{ action: 'bind', campaignId: '48001' }])
})

describe('apply --lower', () => {
  it('sets no first budget, because a campaign without a budget might spend nothing', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    world.campaign('48001').budget = null
    host.file = fileOf(entry('A', '', '5000.00'))

    await host.lower()

    expect(world.campaign('48001').budget).toBeNull()
  })
})

describe('a digest', () => {
  it('works once: a raise that a person took back is not sent again', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('A', '', '200.00'))
    const { digest } = await host.plan()
    await host.send(digest)
    host.file = fileOf(entry('A', '', '100.00'))
    await host.lower()
    host.file = fileOf(entry('A', '', '200.00'))

    expect(await host.send(digest)).toMatchObject({ kind: 'stale' })
    expect(world.campaign('48001').budget).toBe(100)
  })

  it('stays current when the daemon sends targeting', async () => {
    const { host } = await installed(fileOf(entry('A'), entry('B')))
    host.file = fileOf(entry('A', '', '200.00'), entry('B', states('MA')))
    const { digest } = await host.plan('A')
    await host.daemon()

    expect(await host.send(digest, ['A'])).toMatchObject({ kind: 'applied' })
  })
})
