// Outages of single accounts, with the outgoing half of the daemon in one process and time that jumps: the other feeds
// are delivered, and no origin is asked endlessly.

import { createServer } from 'node:net'
import { expect, it, vi } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import type { UploadForm } from '../../../src/service/port.ts'
import { lettersOf } from '../../helpers/feed.ts'
import { feedRule } from '../../helpers/feed-rule.ts'
import { largeFeed, Outlet, SECRET } from '../../helpers/outlet.ts'

const FEEDS = [feedRule('{1}/{2}.xml', { name: '{1}-{2}', partnerAccount: '{1}' })]

/** outletOf opens the outlet of a partner with the accounts a and b. `form` changes the forms of account a. */
function outletOf(form: (form: UploadForm) => UploadForm = (given) => given): Promise<Outlet> {
  const caller = { partner: 'acme', partnerAccounts: ['a', 'b'], secret: SECRET }
  const isOfA = ({ fields }: UploadForm) =>
    fields.some(([name, value]) => name === 'key' && value.includes('/a_'))
  return Outlet.open({
    ...{ feeds: FEEDS, sandbox: { callers: [caller] } },
    form: (given) => (isOfA(given) ? form(given) : given),
  })
}

/** deadAddress returns an address without a server. */
async function deadAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/feeds`
}

/** atLocalhost returns the form with another name of the same storage. */
function atLocalhost(form: UploadForm): UploadForm {
  return { ...form, url: form.url.replace('127.0.0.1', 'localhost') }
}

const formsFor = (outlet: Outlet, asked: string) =>
  outlet.requests('service').filter(({ account }) => account === asked).length

it('feeds of an account are delivered while the storage of another is gone, which is probed rarely', async () => {
  const url = await deadAddress()
  await using outlet = await outletOf((form) => ({ ...form, url }))
  for (let n = 0; n < 6; n++) await outlet.take(`a/${lettersOf(n)}.xml`)
  await outlet.run(30 * MINUTE)

  await outlet.take('b/a.xml')
  await outlet.run(20 * MINUTE)
  const first = outlet.version(7).state
  const asked = formsFor(outlet, 'a')
  for (let n = 1; n < 9; n++) await outlet.take(`b/${lettersOf(n)}.xml`)
  await outlet.run(MINUTE)
  const others = outlet.history.list({ states: ['uploaded'], all: true }).length
  await outlet.run(HOUR)

  expect([first, others]).toEqual(['uploaded', 9])
  expect(outlet.version(1)).toMatchObject({ state: 'queued' })
  expect(outlet.version(1).reason).toContain('ECONNREFUSED')
  // One probe each ten minutes, not one form for each waiting feed.
  expect(formsFor(outlet, 'a') - asked).toBeLessThan(15)
})

it('feeds of an account are delivered while the service fails for another account', async () => {
  await using outlet = await outletOf()
  outlet.fault({ at: 'service', kind: 'answer', status: 500, account: 'a' })
  for (let n = 0; n < 6; n++) await outlet.take(`a/${lettersOf(n)}.xml`)
  await outlet.run(30 * MINUTE)

  await outlet.take('b/a.xml')
  await outlet.run(20 * MINUTE)

  expect(outlet.version(7).state).toBe('uploaded')
})

it.each([
  ['', (form: UploadForm) => form],
  [', also with its own storage', atLocalhost],
])(
  'a feed is delivered while each upload of an older feed of its account breaks%s; the older follows later',
  async (_, form) => {
    await using outlet = await outletOf(form)
    const fault = { at: 'storage', kind: 'drop-at-byte', fileByte: 10_000, how: 'rst' } as const
    const handle = outlet.sandbox.faults.add(fault)
    await outlet.take('a/large.xml', largeFeed(40_000))
    await outlet.run(30 * MINUTE)
    const { state, reason } = outlet.version(1)
    await outlet.take('b/a.xml')
    await outlet.run(20 * MINUTE)

    await outlet.take('a/small.xml')
    await outlet.run(20 * MINUTE)
    const other = outlet.version(3).state
    handle.remove()
    await outlet.run(HOUR)

    expect([state, other]).toEqual(['queued', 'uploaded'])
    expect(reason).toContain('no answer from storage')
    expect(outlet.version(1).state).toBe('uploaded')
  },
)

it('hundreds of feeds that wait for the storage of their account are postponed in a few steps', async () => {
  const url = await deadAddress()
  await using outlet = await outletOf((form) => ({ ...form, url }))
  const { spool } = await outlet.take('a/a.xml')
  await outlet.run(30 * MINUTE)
  await outlet.take('b/a.xml')
  await outlet.run(20 * MINUTE)
  const { history } = outlet
  history.atomically(() => {
    for (let n = 1; n <= 300; n++) {
      const of = {
        feed: `a-${n}`,
        path: `a/${lettersOf(n)}.xml`,
        account: 'a',
        at: outlet.clock.now(),
      }
      history.add({ ...of, state: 'queued', reason: null, patch: { sha256: String(n), spool } })
    }
  })
  const looks = vi.spyOn(history, 'due')

  await outlet.run(1)

  const waiting = history.list({ states: ['queued'], all: true })
  expect(waiting.filter(({ nextAttemptAt }) => nextAttemptAt === null)).toEqual([])
  expect(looks.mock.calls.length).toBeLessThan(20)
})

it.each([
  ['500', { at: 'service', kind: 'answer', status: 500, account: 'a' } as const],
  ['404', { at: 'service', kind: 'answer', status: 404, account: 'a' } as const],
])('a closed account with many feeds (%s) delays no feed of another account', async (_, fault) => {
  await using outlet = await outletOf()
  outlet.fault(fault)
  await outlet.take('b/first.xml')
  await outlet.run(MINUTE)
  for (let n = 0; n < 12; n++) {
    await outlet.take(`a/${lettersOf(n)}.xml`)
    await outlet.run(20 * SECOND)
  }
  const { id } = await outlet.take('b/second.xml')

  await outlet.run(10 * SECOND)

  expect(outlet.version(id).state).toBe('uploaded')
})

it('an account that always fails does not take each probe after an outage of all', async () => {
  await using outlet = await outletOf()
  const outage = outlet.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503 })
  for (const account of ['a', 'b'])
    for (let n = 0; n < 4; n++) await outlet.take(`${account}/${lettersOf(n)}.xml`)
  await outlet.run(5 * MINUTE)
  outage.remove()
  outlet.fault({ at: 'service', kind: 'answer', status: 500, account: 'a' })
  for (let n = 4; n < 20; n++) await outlet.take(`a/${lettersOf(n)}.xml`)

  await outlet.run(25 * MINUTE)

  const states = outlet.history.list({ all: true }).filter(({ account }) => account === 'b')
  expect(states.map(({ state }) => state)).toEqual(Array(4).fill('uploaded'))
})
