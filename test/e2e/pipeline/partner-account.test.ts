// A partner without a configured account: each feed rule names an account, and a path can be without an account.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import type { Command } from '../../helpers/command.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

const PARTNER = { account: undefined, partner: 'acme' }
const RULES = [{ match: '{1}/*.xml', partnerAccount: '{1}' }]

const CALLER = { partner: 'acme', partnerAccounts: ['42', '43'], secret: SECRET }

const partnerSite = (config: Record<string, unknown> = {}, clock: Clock = quickClock()) =>
  Site.open({ service: PARTNER, feeds: RULES, ...config }, { callers: [CALLER], clock })

const DEFAULT_42 = { ...PARTNER, partnerAccount: '42' }

/** asked returns the accounts of all form requests, in order. */
const asked = (site: Site) =>
  site.sandbox.requests().flatMap(({ account, route }) => (route === 'presign' ? [account] : []))

/** restart stops the daemon and starts another daemon with this configuration. */
async function restart(site: Site, daemon: Command, config: Record<string, unknown>) {
  await daemon.stop()
  site.configure({ service: PARTNER, ...config })
  return site.daemon()
}

it('a feed without a partner account fails alone and names the key to set; the others are uploaded', async () => {
  await using site = await partnerSite()
  site.drop('lost.xml', feedOf(1))
  site.drop('42/jobs.xml', feedOf(2))
  const daemon = await site.daemon()

  const lost = await site.until('lost.xml', 'failed')
  await site.until('42/jobs.xml', 'uploaded')
  const { code } = await daemon.stop()

  expect(lost.reason).toBe('no rule gives a partner account for lost.xml')
  expect(code).toBe(0)
  expect(asked(site)).toEqual(['42'])
  const shown = await site.run('show', String(lost.id))
  expect(shown.stdout).toContain('service.partnerAccount')
})

it('a command about the account sends nothing, names the key to set, and ends with 78', async () => {
  await using site = await partnerSite()

  for (const command of [
    ['campaigns', 'search'],
    ['campaigns', 'get', '1'],
    ['campaigns', 'create', '--name', 'Cooks', '--yes'],
    ['campaigns', 'update', '1', '--budget', '5'],
    ['doctor'],
  ]) {
    const { code, stdout, stderr } = await site.run(...command)

    expect([command, code]).toEqual([command, 78])
    expect(stdout + stderr).toContain('set service.partnerAccount')
  }
  expect(site.sandbox.requests()).toEqual([])
})

it('config check warns if a path can be without a partner account', async () => {
  await using site = await partnerSite()

  const { stdout, stderr } = await site.run('config', 'check')

  expect(stdout + stderr).toMatch(/service\.partner: no partnerAccount for a file that no rule/)
})

it('a version that failed without a partner account is uploaded with a new rule, a restart, and a retry or another drop', async () => {
  await using site = await partnerSite({ feeds: [] })
  const daemon = await site.daemon()
  site.drop('same-feed.xml', feedOf(1))
  site.drop('other-feed.xml', feedOf(2))
  site.drop('dropped-again.xml', feedOf(3))
  const [same, other] = [
    await site.until('same-feed.xml', 'failed'),
    await site.until('other-feed.xml', 'failed'),
  ]
  await site.until('dropped-again.xml', 'failed')

  const feeds = [
    { match: 'other-feed.xml', name: 'found', partnerAccount: '43' },
    { match: '*.xml', partnerAccount: '43' },
  ]
  await restart(site, daemon, { feeds })
  for (const { id } of [same, other]) {
    expect((await site.run('retry', String(id))).code).toBe(0)
  }
  site.drop('dropped-again.xml', feedOf(3))

  await site.passed('same-feed.xml', 'uploaded')
  await site.passed('other-feed.xml', 'uploaded')
  await site.until('dropped-again.xml', 'uploaded')
  expect(asked(site)).toEqual(['43', '43', '43'])
  expect([same, other].map(({ id }) => site.show(id).account)).toEqual(['43', '43'])
})

it('a version with an invalid account is uploaded with a new rule, a restart and a retry', async () => {
  await using site = await partnerSite()
  const daemon = await site.daemon()
  site.drop('köln/jobs.xml', feedOf(1))
  const { id } = await site.until('köln/jobs.xml', 'failed')

  await restart(site, daemon, { feeds: [{ match: 'köln/*.xml', name: 'k', partnerAccount: '43' }] })
  await site.run('retry', String(id))

  expect((await site.until('köln/jobs.xml', 'uploaded')).account).toBe('43')
})

describe('when the rule of a path changes', () => {
  const RIGHT = [{ match: 'other.xml', name: 'right', partnerAccount: '43' }]
  const cut = feedOf(3).slice(0, -20)

  it('an incomplete file becomes a version of the feed that the new rule names', async () => {
    await using site = await partnerSite({ service: DEFAULT_42, feeds: [] })
    const daemon = await site.daemon()
    site.drop('other.xml', cut)
    await site.until('other.xml', 'incomplete')

    await restart(site, daemon, { service: DEFAULT_42, feeds: RIGHT })
    const waiting = await site.until('right', 'incomplete')
    site.drop('other.xml', feedOf(3))
    const { account } = await site.until('right', 'uploaded')

    expect([waiting.account, account]).toEqual(['43', '43'])
    expect(asked(site)).toEqual(['43'])
    expect(site.uploads({ all: true }).map(({ feed }) => feed)).toEqual(['right'])
  })

  it('an incomplete file gets no more time, not even with an expected feed or after a restart', async () => {
    const inbox = { incompleteAfter: '20m' }
    await using site = await partnerSite({ service: DEFAULT_42, feeds: [], inbox })
    const before = await site.daemon()
    site.drop('other.xml', cut)
    const { incompleteSince } = await site.until('other.xml', 'incomplete')
    await before.stop()

    const feeds = RIGHT.map((rule) => ({ ...rule, expectEvery: '1d' }))
    site.configure({ service: DEFAULT_42, feeds, inbox })
    await site.daemon()
    const waiting = await site.until('right', 'incomplete')

    expect(incompleteSince).not.toBeNull()
    expect(waiting.incompleteSince).toBe(incompleteSince)
    expect(site.uploads({ all: true })).toHaveLength(1)
  })

  it('waiting and held versions go to the account of the new rule', async () => {
    const rules = (partnerAccount: string) => [{ match: '*.xml', partnerAccount }]
    await using site = await partnerSite({ feeds: rules('42') })
    const daemon = await site.daemon()
    site.drop('held.xml', feedOf(1000))
    await site.until('held.xml', 'uploaded')
    site.drop('held.xml', feedOf(1))
    const held = await site.until('held.xml', 'held')
    const outage = site.sandbox.faults.add({
      ...({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const),
    })
    site.drop('waits.xml', feedOf(1))
    await site.untilWaiting('waits.xml')

    outage.remove()
    await restart(site, daemon, { feeds: rules('43') })
    await site.run('retry', '--all')
    const waited = await site.until('waits.xml', 'uploaded')
    await site.until('held.xml', 'held')
    const shown = site.show(held.id).account
    await site.run('release', String(held.id))
    const released = await site.until('held.xml', 'uploaded')

    expect([waited.account, shown, released.account]).toEqual(['43', '43', '43'])
    expect(asked(site).slice(-2)).toEqual(['43', '43'])
  })

  it('a version that waits for a refused account is sent to the new account after a restart', async () => {
    const rules = (partnerAccount: string) => [{ match: '*.xml', partnerAccount }]
    await using site = await partnerSite({ feeds: rules('wrong') })
    const daemon = await site.daemon()
    site.drop('jobs.xml', feedOf(1))
    await site.untilWaiting('jobs.xml')

    await restart(site, daemon, { feeds: rules('43') })
    const { account } = await site.until('jobs.xml', 'uploaded')

    expect(account).toBe('43')
    expect(asked(site)).toEqual(['wrong', '43'])
  })

  it('a version that storage might have keeps its feed and account', async () => {
    await using site = await partnerSite({ service: DEFAULT_42, feeds: [] }, systemClock)
    const gate = site.sandbox.faults.add({
      ...({ at: 'storage', kind: 'gate', point: 'answer', times: 1 } as const),
    })
    const daemon = await site.daemonProcess()
    site.drop('other.xml', feedOf(3))
    await gate.held()
    daemon.kill('SIGKILL')
    await new Promise((resolve) => daemon.once('exit', resolve))

    site.configure({ service: DEFAULT_42, feeds: RIGHT })
    await site.daemon()
    const { account } = await site.until('other.xml', 'uploaded')

    expect(account).toBeNull()
    expect(asked(site)).toEqual(['42', '42'])
    expect(site.uploads({ all: true }).map(({ feed }) => feed)).toEqual(['other.xml'])
  })

  it('an uploaded version keeps its feed and account; restored or dropped again, its bytes go to the new account', async () => {
    const rules = (partnerAccount: string) => [{ match: '*.xml', partnerAccount }]
    await using site = await partnerSite({ feeds: rules('42') })
    const before = await site.daemon()
    site.drop('jobs.xml', feedOf(1))
    const first = await site.until('jobs.xml', 'uploaded')

    const after = await restart(site, before, { feeds: rules('43') })
    await site.run('restore', String(first.id))
    await site.passed('jobs.xml', 'uploaded', { nth: 2 })
    await restart(site, after, { feeds: rules('42') })
    site.drop('jobs.xml', feedOf(1))
    await site.passed('jobs.xml', 'uploaded', { nth: 3 })

    expect(site.show(first.id).account).toBe('42')
    expect(asked(site)).toEqual(['42', '43', '42'])
  })
})

it('a file for which a person names a feed belongs to that feed, although it was incomplete in another', async () => {
  await using site = await partnerSite({ service: DEFAULT_42, feeds: [] })
  await site.daemon()
  site.drop('p.xml', feedOf(3).slice(0, -20))
  await site.until('p.xml', 'incomplete')

  await site.run('upload', '--feed', 'X', '--new', `${site.inbox}/p.xml`)

  expect((await site.until('X', 'rejected')).path).toBe('p.xml')
})

describe('a file from elsewhere with a feed that a person names', () => {
  const BY_FOLDER = { match: '{1}/*.xml', name: 'feed-{1}', partnerAccount: '{1}' }
  const RULES = [{ ...BY_FOLDER, fields: { id: 'title' } }]

  it.each(['with a daemon', 'without a daemon'])(
    'goes to the account of that feed, and is read by its rule: %s',
    async (how) => {
      await using site = await partnerSite({ service: DEFAULT_42, feeds: RULES })
      if (how === 'with a daemon') await site.daemon()
      const file = join(site.root, 'corrected.xml')
      writeFileSync(file, feedOf(3).replaceAll('J-1<', 'J-0<'))

      const { stdout } = await site.run('upload', file, '--feed', 'feed-43', '--new', '--json')

      expect(JSON.parse(stdout)).toMatchObject({ account: '43', state: 'uploaded', warnings: [] })
      expect(asked(site)).toEqual(['43'])
    },
  )

  it('is refused, without a request or a version, if the feed name does not give the account', async () => {
    const rule = { match: '{1}/{2}.xml', name: '{2}', partnerAccount: '{1}' }
    await using site = await partnerSite({ service: DEFAULT_42, feeds: [rule] })
    const file = join(site.root, 'corrected.xml')
    writeFileSync(file, feedOf(3))

    const { code, stderr } = await site.run('upload', file, '--feed', 'jobs', '--new')

    expect(code).toBe(64)
    expect(stderr).toContain('no rule gives a partner account for the name jobs')
    expect(asked(site)).toEqual([])
    expect(site.uploads({ all: true })).toEqual([])
  })

  it('that failed without an account is uploaded with a new rule, a restart and a retry', async () => {
    await using site = await partnerSite({ feeds: [] })
    const daemon = await site.daemon()
    const file = join(site.root, 'corrected.xml')
    writeFileSync(file, feedOf(3))
    await site.run('upload', file, '--feed', 'feed-43', '--new')
    const { id } = await site.until('feed-43', 'failed')

    await restart(site, daemon, { feeds: RULES })
    await site.run('retry', String(id))

    expect(await site.until('feed-43', 'uploaded')).toMatchObject({ account: '43' })
  })
})
