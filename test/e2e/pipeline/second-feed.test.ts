// Two feeds of one account, with the defaults: a further feed waits until a person or the configuration says that the
// service keeps all feeds of the account. The file names look different unless a test says otherwise.

import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runWithin } from '../../helpers/command.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

const HOLD = { guards: { secondFeed: 'hold' } }

/** opened opens a site that holds second feeds, as the default of the configuration does. */
const opened = (config: Record<string, unknown> = {}) =>
  Site.open({ ...HOLD, ...config }, { clock: quickClock() })

/** stored returns the feeds of all uploaded versions, sorted. */
const stored = (site: Site) =>
  site
    .uploads({ all: true })
    .filter(({ state }) => state === 'uploaded')
    .map(({ feed }) => feed)
    .sort()

describe('a further feed of an account', () => {
  it('is held and not sent, and says which feed the account has and what to do', async () => {
    await using site = await opened()
    await site.daemon()
    site.drop('jobs.xml', feedOf(120))
    await site.until('jobs.xml', 'uploaded')
    site.drop('nurses.xml', feedOf(3))
    const held = await site.until('nurses.xml', 'held')

    expect(held).toMatchObject({
      ...{ guard: 'second-feed', reasonCode: 'second-feed' },
      reason:
        'account 123 already has jobs.xml (120 postings), and the service might keep only the last file of an account',
    })
    expect(held.hint).toContain(
      'release it with --account-keeps-all, or set guards.secondFeed: pass',
    )
    expect(held.hint).toContain('exclude: ["nurses.xml"]')
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('does not stop the known feed, whose next versions are sent', async () => {
    await using site = await opened()
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    site.drop('nurses.xml', feedOf(3))
    await site.until('nurses.xml', 'held')
    site.drop('jobs.xml', feedOf(4))

    await site.passed('jobs.xml', 'uploaded', { nth: 2 })
    expect(stored(site)).toEqual(['jobs.xml', 'jobs.xml'])
  })

  it('is known after its release, and the others still wait', async () => {
    await using site = await opened()
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    site.drop('nurses.xml', feedOf(3))
    const { id } = await site.until('nurses.xml', 'held')
    site.drop('cooks.xml', feedOf(3))
    await site.until('cooks.xml', 'held')
    await site.run('release', String(id))
    await site.until('nurses.xml', 'uploaded')
    site.drop('nurses.xml', feedOf(4))

    await site.passed('nurses.xml', 'uploaded', { nth: 2 })
    expect(site.uploads({ feed: 'cooks.xml' })[0]?.state).toBe('held')
  })

  it('is held beside a feed that storage might have, after a kill and a restart', async () => {
    await using site = await opened()
    site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer' })
    site.drop('jobs.xml', feedOf(3))
    const killed = await site.daemonProcess()
    await site.passed('jobs.xml', 'uploading')
    killed.kill('SIGKILL')
    site.drop('nurses.xml', feedOf(3))
    await site.daemon()

    await site.until('nurses.xml', 'held')
    expect(stored(site)).toEqual([])
  })
})

describe('of several unknown feeds of an account', () => {
  it.each([
    ['one after the other', ['a.xml', 'b.xml', 'c.xml'], true],
    ['at the same time', ['c.xml', 'a.xml', 'b.xml'], false],
  ])('one is sent and the others are held, if they come %s', async (_, names, oneByOne) => {
    await using site = await opened()
    for (const name of names) {
      site.drop(name, feedOf(3))
      if (oneByOne) await site.run('run', '--once')
    }
    await site.run('run', '--once')

    expect(stored(site)).toHaveLength(1)
    expect(site.uploads({ states: ['held'] })).toHaveLength(2)
    await site.run('run', '--once')
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('the first is sent and the others are held when guards.secondFeed becomes hold while all of them wait', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const outage = site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503 })
    const daemon = await site.daemon()
    for (const name of ['jobs.xml', 'nurses.xml', 'cooks.xml']) {
      site.drop(name, feedOf(3))
      await site.untilWaiting(name)
    }
    await daemon.stop()
    outage.remove()
    site.configure(HOLD)
    await site.daemon()
    await site.run('retry', '--all')

    await site.until('jobs.xml', 'uploaded')
    for (const name of ['nurses.xml', 'cooks.xml']) await site.until(name, 'held')
  })
})

describe('several accounts', () => {
  const RULES = [{ match: '{1}/*.xml', partnerAccount: '{1}' }]
  const callers = [{ partner: 'acme', partnerAccounts: ['42', '43'], secret: SECRET }]
  const service = { account: undefined, partner: 'acme', partnerAccount: '42' }
  const partnerSite = (feeds: object[] = RULES) =>
    Site.open({ ...HOLD, service, feeds }, { callers, clock: quickClock() })

  it('have a feed each, and a second feed of each is held', async () => {
    await using site = await partnerSite()
    await site.daemon()
    for (const account of ['42', '43']) {
      site.drop(`${account}/jobs.xml`, feedOf(3))
      await site.until(`${account}/jobs.xml`, 'uploaded')
    }
    for (const account of ['42', '43']) {
      site.drop(`${account}/nurses.xml`, feedOf(3))
      const { reason } = await site.until(`${account}/nurses.xml`, 'held')

      expect(reason).toContain(`account ${account} already has ${account}/jobs.xml`)
    }
  })

  it('the configured account is one account, whether a rule names it or not', async () => {
    await using site = await partnerSite([{ match: 'named/*.xml', partnerAccount: '42' }])
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    site.drop('named/nurses.xml', feedOf(3))

    expect((await site.until('named/nurses.xml', 'held')).reason).toContain(
      'account 42 already has',
    )
  })

  it('the configured account is one account for an upload without a daemon, too, which sends nothing', async () => {
    await using site = await partnerSite([{ match: 'named/*.xml', partnerAccount: '42' }])
    site.drop('jobs.xml', feedOf(3))
    await site.run('run', '--once')
    site.drop('named/nurses.xml', feedOf(3))
    const { stderr } = await site.run('upload', join(site.inbox, 'named/nurses.xml'))

    expect(stderr).toContain('account 42 already has jobs.xml')
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('a feed that a rule moves to the account of another feed is held', async () => {
    await using site = await partnerSite()
    const daemon = await site.daemon()
    for (const account of ['42', '43']) {
      site.drop(`${account}/jobs.xml`, feedOf(3))
      await site.until(`${account}/jobs.xml`, 'uploaded')
    }
    await daemon.stop()
    site.configure({ ...HOLD, service, feeds: [{ match: '**', partnerAccount: '43' }] })
    await site.daemon()
    site.drop('42/jobs.xml', feedOf(4))

    expect((await site.until('42/jobs.xml', 'held')).reason).toContain(
      'account 43 already has 43/jobs.xml',
    )
  })
})

describe('a feed that the rules give another name', () => {
  const named = (name: string | undefined) => ({ ...HOLD, feeds: [{ match: 'jobs.xml', name }] })

  it.each([
    ['gets a name', undefined, 'main'],
    ['loses its name', 'main', undefined],
    ['gets another name', 'main', 'other'],
  ])('is known by its path when it %s', async (_, before, after) => {
    await using site = await opened(named(before))
    const daemon = await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until(before ?? 'jobs.xml', 'uploaded')
    await daemon.stop()
    site.configure(named(after))
    await site.daemon()
    site.drop('jobs.xml', feedOf(4))

    await site.until(after ?? 'jobs.xml', 'uploaded')
  })

  it('is known by one file alone: of two files that were one feed, by the file that was sent last', async () => {
    const feeds = [{ match: '*.xml', name: 'all' }]
    await using site = await opened({ feeds })
    const daemon = await site.daemon()
    for (const [n, name] of ['jobs.xml', 'nurses.xml'].entries()) {
      site.drop(name, feedOf(3 + n))
      await site.passed('all', 'uploaded', { nth: n + 1 })
    }
    await daemon.stop()
    site.configure(HOLD)
    await site.daemon()
    site.drop('jobs.xml', feedOf(5))
    await site.until('jobs.xml', 'held')
    site.drop('nurses.xml', feedOf(6))

    await site.until('nurses.xml', 'uploaded')
  })
})

describe('a name that looks like the name of another feed', () => {
  it.each([
    ['jobs (1).xml', 'it is named like a copy of jobs.xml'],
    ['jobs.sync-conflict-20261128-101500-ABCDEFG.xml', 'it is named like a copy of jobs.xml'],
    ['Jobs.xml', 'its name differs from jobs.xml only in capital letters'],
    ['test.xml', 'this file or jobs.xml is named like a trial or an old file'],
    [
      'jobs-28-11-2026.xml',
      'its name differs from jobs.xml only in numbers, so that no guard compares the two',
    ],
  ])('%s is held, also if the service keeps all feeds, as check predicts', async (name, reason) => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
    site.drop('jobs.xml', feedOf(400))
    await site.until('jobs.xml', 'uploaded')
    const file = join(site.root, name)
    site.drop(name, feedOf(4))
    renameSync(join(site.inbox, name), file)
    const checked = await site.run('check', file, '--feed', name, '--json')
    renameSync(file, join(site.inbox, name))
    const { feed } = await site.until(name.replace('20261128-101500', '{date}'), 'held')

    const [held] = site.uploads({ feed })
    expect(held).toMatchObject({ guard: 'second-feed', reasonCode: 'look-alike', reason })
    expect(JSON.parse(checked.stdout).files[0].held).toBe(reason)
    expect(stored(site)).toEqual(['jobs.xml'])
  })

  it.each([
    ['DD-MM-YYYY', ['jobs-27-11-2026.xml', 'jobs-28-11-2026.xml']],
    ['YYMMDD', ['jobs_261127.xml', 'jobs_261128.xml']],
    ['seconds since 1970', ['jobs-1763856000.xml', 'jobs-1763942400.xml']],
    ['a running number', ['jobs-0001.xml', 'jobs-0002.xml']],
  ])(
    'with %s is held, and the rule of the hint makes both one feed, whose guards then compare them',
    async (_, [first = '', next = '']) => {
      await using site = await Site.open({}, { clock: quickClock() })
      const daemon = await site.daemon()
      site.drop(first, feedOf(100))
      await site.until(first, 'uploaded')
      site.drop(next, feedOf(10))
      const { hint } = await site.until(next, 'held')
      await daemon.stop()
      const [, match = '', name = ''] = /match: "(.*?)", name: "(.*?)"/.exec(hint ?? '') ?? []
      site.configure({ feeds: [{ match, name }] })
      await site.daemon()

      const held = await site.until('jobs', 'held')
      expect(held).toMatchObject({ guard: 'drop', path: next })
      expect(site.uploads({ feed: next })[0]?.state).toBe('superseded')
      expect(stored(site)).toEqual([first])
    },
  )

  it('with a number is held, and the other rule of the hint makes each a feed of its own', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const daemon = await site.daemon()
    site.drop('customer-12.xml', feedOf(100))
    await site.until('customer-12.xml', 'uploaded')
    site.drop('customer-13.xml', feedOf(10))
    const { hint } = await site.until('customer-13.xml', 'held')
    await daemon.stop()
    const [, match = '', name = ''] =
      /of its own, set feeds: \[\{ match: "(.*?)", name: "(.*?)"/.exec(hint ?? '') ?? []
    site.configure({ feeds: [{ match, name }] })
    await site.daemon()

    await site.until('customer-13', 'uploaded')
  })

  it('is known after its release', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    site.drop('jobs-old.xml', feedOf(3))
    await site.run('release', String((await site.until('jobs-old.xml', 'held')).id))
    await site.until('jobs-old.xml', 'uploaded')
    site.drop('jobs-old.xml', feedOf(4))

    await site.passed('jobs-old.xml', 'uploaded', { nth: 2 })
  })
})

describe('the statement that the service keeps all feeds of an account', () => {
  /** withHeld drops a feed that is sent, and three further feeds that are held. It returns the ids of the three. */
  async function withHeld(site: Site): Promise<number[]> {
    const ids: number[] = []
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    for (const name of ['nurses.xml', 'cooks.xml', 'jobs-old.xml']) {
      site.drop(name, feedOf(3))
      ids.push((await site.until(name, 'held')).id)
    }
    return ids
  }

  /** released releases a version at a terminal, where the person answers each question in turn. */
  async function released(site: Site, id: number, answers: boolean[]) {
    const questions: string[] = []
    const ask = async (question: string) => {
      questions.push(question)
      return answers.shift() ?? false
    }
    const env = { ...process.env, ...site.runtime }
    const words = ['release', String(id), '--config', site.configFile]
    return { ...(await runWithin(words, { clock: site.clock, env, ask })), questions }
  }

  it('is asked for at a terminal, frees the others, and stays over a restart; look-alikes stay held', async () => {
    await using site = await opened()
    const daemon = await site.daemon()
    const [nurses = 0] = await withHeld(site)
    const { code, questions } = await released(site, nurses, [true, true])
    await site.until('cooks.xml', 'uploaded')
    await daemon.stop()
    await site.daemon()
    site.drop('later.xml', feedOf(3))

    expect(code).toBe(0)
    expect(questions).toEqual([
      'release it? [y/N] ',
      'account 123 keeps all feeds: send the others that wait, and hold no further one? [y/N] ',
    ])
    await site.until('later.xml', 'uploaded')
    await site.until('jobs-old.xml', 'held')
  })

  it('is not given by a no to the second question, which releases one version', async () => {
    await using site = await opened()
    await site.daemon()
    const [nurses = 0] = await withHeld(site)
    await released(site, nurses, [true, false])
    await site.until('nurses.xml', 'uploaded')

    await site.until('cooks.xml', 'held')
  })

  it('is given without a terminal by an option, which sends the version and the others that wait', async () => {
    await using site = await opened()
    await site.daemon()
    const [nurses = 0] = await withHeld(site)
    const ran = await site.run('release', String(nurses), '--account-keeps-all', '--json')

    expect(JSON.parse(ran.stdout).uploads.map(({ feed }: { feed: string }) => feed)).toEqual([
      'nurses.xml',
      'cooks.xml',
    ])
    for (const name of ['nurses.xml', 'cooks.xml']) await site.until(name, 'uploaded')
  })

  it('is not asked for when a version is held for its name alone', async () => {
    await using site = await opened()
    await site.daemon()
    const [, , old = 0] = await withHeld(site)

    expect((await released(site, old, [true])).questions).toEqual(['release it? [y/N] '])
  })

  it('frees no version that another guard holds, too, and the version then names that guard', async () => {
    await using site = await opened()
    await site.daemon()
    const [nurses = 0] = await withHeld(site)
    site.drop('empty.xml', '<source></source>')
    const both = await site.until('empty.xml', 'held')
    await site.run('release', String(nurses), '--account-keeps-all')
    await site.until('cooks.xml', 'uploaded')

    expect(both.reason).toMatch(/^account 123 already has .*; also, the feed contains no postings/)
    expect(site.uploads({ feed: 'empty.xml' })[0]).toMatchObject({
      ...{ state: 'held', guard: 'empty', reasonCode: 'empty' },
    })
  })

  it('is forgotten when the account becomes another one', async () => {
    const callers = ['123', '124'].map((account) => ({ account, secret: SECRET }))
    await using site = await Site.open(HOLD, { callers, clock: quickClock() })
    const daemon = await site.daemon()
    const [nurses = 0] = await withHeld(site)
    await site.run('release', String(nurses), '--account-keeps-all')
    await site.until('cooks.xml', 'uploaded')
    await daemon.stop()
    site.configure({ ...HOLD, service: { account: '124' } })
    await site.daemon()
    site.drop('jobs.xml', feedOf(4))
    await site.passed('jobs.xml', 'uploaded', { nth: 2 })
    site.drop('nurses.xml', feedOf(4))

    expect((await site.until('nurses.xml', 'held')).reason).toContain('account 124 already has')
  })

  it('is given by guards.secondFeed: the next start sends the held feeds, and look-alikes stay held', async () => {
    await using site = await opened()
    const daemon = await site.daemon()
    await withHeld(site)
    await daemon.stop()
    site.configure({})
    await site.daemon()

    for (const name of ['nurses.xml', 'cooks.xml']) await site.until(name, 'uploaded')
    await site.until('jobs-old.xml', 'held')
  })
})

it('two further feeds are one problem, and each of its lines is about both', async () => {
  await using site = await opened()
  await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  await site.until('jobs.xml', 'uploaded')
  site.drop('nurses.xml', feedOf(3))
  const nurses = await site.until('nurses.xml', 'held')
  site.drop('cooks.xml', feedOf(3))
  const cooks = await site.until('cooks.xml', 'held')
  const { stdout } = await site.run('status')
  const ids = [String(nurses.id), String(cooks.id)]
  const discarded = await site.run('discard', ...ids)

  expect(stdout).toMatch(/held: nurses.xml, cooks.xml: account 123/)
  expect(stdout).toContain('set exclude: ["nurses.xml", "cooks.xml"] under inbox')
  expect(stdout).toMatch(new RegExp(`discard ${ids.join(' ')} --config`))
  expect(discarded.stdout).toMatch(
    /to leave these files out, set under inbox: exclude: \["nurses.xml", "cooks.xml"\]\n/,
  )
})

it('discard names the line that excludes the file, and the line excludes this file alone', async () => {
  await using site = await opened()
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  await site.until('jobs.xml', 'uploaded')
  site.drop('jobs (1).xml', feedOf(3))
  const { id } = await site.until('jobs (1).xml', 'held')
  const { stdout } = await site.run('discard', String(id))
  await daemon.stop()
  const [, line = ''] = /set under inbox: exclude: (.*)\n/.exec(stdout) ?? []
  site.configure({ ...HOLD, inbox: { exclude: JSON.parse(line) } })

  expect((await site.run('show', 'jobs (1).xml')).stdout).toContain('exclude')
  expect((await site.run('show', 'path:jobs.xml')).stdout).not.toContain('exclude')
})

it('a file whose name has the other Unicode form is the next version of the same feed, which the guards compare', async () => {
  await using site = await opened()
  await site.daemon()
  const feed = 'köln.xml'.normalize('NFC')
  site.drop(feed.normalize('NFC'), feedOf(100))
  await site.until(feed, 'uploaded')
  site.drop(feed.normalize('NFD'), feedOf(10))

  expect(await site.until(feed, 'held')).toMatchObject({
    guard: 'drop',
    path: feed.normalize('NFD'),
  })
  expect((await site.run('show', feed)).stdout).toContain('version 1, 100 postings')
})
