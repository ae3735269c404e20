// Versions that a guard holds, and the decisions of a person about them, with a running daemon.

import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../src/history/port.ts'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf, trail } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')

/** withTen opens a running site whose feed was uploaded with ten postings. */
async function withTen(): Promise<Site> {
  const site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs.xml', feedOf(10))
  await site.until('jobs.xml', 'uploaded')
  return site
}

const stored = (site: Site) => site.sandbox.objects().map((object) => object.sha256)
const decide = async (site: Site, decision: string, { id }: Pick<Version, 'id'>) =>
  (await site.run(decision, String(id))).code

describe('a feed is held', () => {
  const before = feedOf(100)
  let site: Site
  beforeAll(async () => {
    site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
  })
  afterAll(() => site[Symbol.asyncDispose]())

  it.each([
    ['it has no postings', '<source></source>', /^the feed contains no postings/],
    [
      'its root is another one',
      before.replaceAll('source>', 'jobs>'),
      /^the root element changed from <source> to <jobs>/,
    ],
    [
      'its postings are elsewhere',
      before.replaceAll('job>', 'vacancy>'),
      /^the postings moved from \/source\/job to \/source\/vacancy/,
    ],
    [
      'its postings are empty',
      `<source>${'<job/>'.repeat(100)}</source>`,
      /^the number of postings with an id fell from 100 to 0 \(100 %\), of 100 in all/,
    ],
    [
      'one of its postings stands a hundred times',
      `<source>${(/<job>.*?<\/job>/s.exec(before)?.[0] ?? '').repeat(100)}</source>`,
      /^the number of different postings fell from 100 to 1 \(99 %\), of 100 in all/,
    ],
    [
      'only the ids of its postings are left',
      before.replaceAll(/<title>.*?<\/title>|<campaignid>.*?<\/city>/g, ''),
      /^the postings shrank from \d+ bytes on average to \d+ \(6\d %\)/,
    ],
  ])('when %s, and is not sent, as check predicts', async (why, content, reason) => {
    const feed = `${why}.xml`
    site.drop(feed, before)
    await site.until(feed, 'uploaded')
    const file = join(site.root, 'elsewhere.xml')
    writeFileSync(file, content)
    const checked = await site.run('check', file, '--feed', feed, '--json')

    site.drop(feed, content)
    const held = await site.until(feed, 'held')

    expect(held.reason).toMatch(reason)
    expect(checked.code).toBe(3)
    expect(JSON.parse(checked.stdout).files[0]).toMatchObject({ verdict: 'ok', held: held.reason })
    expect(held.hint).toContain('release')
    expect(stored(site)).not.toContain(sha256(content))
  })

  it.each([
    ['ids', '<job><id>{{ job.id }}</id><title>Cook</title></job>'],
    ['titles', '<job><id>R-1</id><title>{$listing.Title}</title></job>'],
  ])('when its %s are placeholders of a template, even as a first version', async (what, job) => {
    const content = `<source>${job}</source>`
    const file = join(site.root, 'template.xml')
    writeFileSync(file, content)
    const checked = await site.run('check', file, '--json')

    site.drop(`template ${what}.xml`, content)
    const held = await site.until(`template ${what}.xml`, 'held')

    expect(held.guard).toBe('template')
    expect(held.reason).toMatch(/^the feed is a template that was not filled in: .* like "\{/)
    expect(JSON.parse(checked.stdout).files[0]).toMatchObject({ held: held.reason })
    expect(stored(site)).not.toContain(sha256(content))
  })

  it('when all its postings are replaced and this is unusual for the feed, with the number of changes', async () => {
    for (const bytes of [before, feedOf(101), feedOf(99)]) {
      site.drop('others.xml', bytes)
      await site.until('others.xml', 'uploaded', sha256(bytes))
    }

    site.drop('others.xml', before.replaceAll('J-', 'X-'))
    const held = await site.until('others.xml', 'held')

    expect(held.reason).toMatch(/^99 of 99 postings were replaced by others \(100 %\)/)
    expect(held.changes).toEqual({ added: 100, removed: 99, changed: 0 })
  })

  it('but not when all its postings are replaced each day', async () => {
    for (const day of ['A-', 'B-', 'C-', 'D-']) {
      const bytes = before.replaceAll('J-', day)
      site.drop('daily.xml', bytes)
      await site.until('daily.xml', 'uploaded', sha256(bytes))
    }
  })

  it('when it has fewer postings than minPostings, even as a first version, and is sent when it has as many', async () => {
    await using strict = await Site.open({ guards: { minPostings: 8 } }, { clock: quickClock() })
    await strict.daemon()

    strict.drop('few.xml', feedOf(7))
    strict.drop('enough.xml', feedOf(8))
    const held = await strict.until('few.xml', 'held')
    await strict.until('enough.xml', 'uploaded')

    expect(held.reason).toContain('fewer than guards.minPostings (8)')
  })
})

describe('a feed whose ids now come from another field', () => {
  it('is not held for replaced postings, and shows no changes', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const feed = (date: number) => {
      const jobs = Array.from({ length: 10 }, (_, i) => `<job><id>${i}</id><ref>R${i}</ref></job>`)
      return `<source><date>${date}</date>${jobs.join('')}</source>`
    }
    for (const date of [1, 2]) {
      site.drop('jobs.xml', feed(date))
      await site.run('run', '--once')
    }
    const before = site.uploads()[0]

    site.configure({ feeds: [{ match: '*.xml', fields: { id: 'ref' } }] })
    site.drop('jobs.xml', feed(3))
    await site.run('run', '--once')

    expect(before?.changes).toEqual({ added: 0, removed: 0, changed: 0 })
    expect(site.uploads()[0]).toMatchObject({ state: 'uploaded', postings: 10, changes: null })
  })
})

describe('a feed that is held because its postings were not found', () => {
  it('is judged again when it is dropped after a rule names their path', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const feed = '<liste><gesuch><id>1</id><titel>Koch</titel></gesuch></liste>'
    site.drop('jobs.xml', feed)
    await site.run('run', '--once')
    const held = site.uploads()[0]

    site.drop('jobs.xml', feed)
    await site.run('run', '--once')
    const still = site.uploads()[0]
    site.configure({ feeds: [{ match: '*.xml', records: '/liste/gesuch' }] })
    site.drop('jobs.xml', feed)
    await site.run('run', '--once')

    expect(held).toMatchObject({ state: 'held', postings: 0 })
    expect(held?.hint).toMatch(/configure their path in "records", restart feedsyncd/)
    expect(still).toMatchObject({ id: held?.id, state: 'held' })
    expect(site.uploads()[0]).toMatchObject({ state: 'uploaded', postings: 1 })
    expect(site.show(held?.id ?? 0).state).toBe('superseded')
  })
})

describe('the decision of a person about a held feed', () => {
  it('release: the feed is sent and is the next baseline', async () => {
    await using site = await withTen()
    site.drop('jobs.xml', feedOf(4))
    const held = await site.until('jobs.xml', 'held')

    const code = await decide(site, 'release', held)
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(4)))
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(3)))

    expect(code).toBe(0)
    expect(trail(site, held.id)).toEqual([
      'settling',
      'checking',
      'held',
      'queued',
      'uploading',
      'uploaded',
    ])
  })

  it('discard: the feed is never sent, the same bytes change nothing, a release is refused and names restore, and the next version is sent', async () => {
    await using site = await withTen()
    site.drop('jobs.xml', feedOf(4))
    const held = await site.until('jobs.xml', 'held')

    const code = await decide(site, 'discard', held)
    site.drop('jobs.xml', feedOf(4))
    await eventually(() => expect(trail(site, held.id).at(-1)).toBe('seen'))
    const late = await site.run('release', String(held.id))
    site.drop('jobs.xml', feedOf(11))
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(11)))

    expect(code).toBe(0)
    expect(late).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /it is discarded\n.*to send it all the same: feedsyncd.* restore 2/s,
      ),
    })
    expect(site.show(held.id).state).toBe('discarded')
    expect(stored(site)).toEqual([sha256(feedOf(10)), sha256(feedOf(11))])
  })

  it('no decision: a good version takes the place of the held version, with both ids on record', async () => {
    await using site = await withTen()
    site.drop('jobs.xml', feedOf(4))
    const held = await site.until('jobs.xml', 'held')

    site.drop('jobs.xml', feedOf(12))
    const { id } = await site.until('jobs.xml', 'uploaded', sha256(feedOf(12)))

    expect(site.show(held.id)).toMatchObject({
      state: 'superseded',
      reason: `version ${id} took the place of version ${held.id}`,
    })
  })

  it('restore: an earlier version is sent again as a new version, which takes the place of the held version', async () => {
    await using site = await withTen()
    const [first] = site.uploads()
    site.drop('jobs.xml', feedOf(6))
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(6)))
    site.drop('jobs.xml', feedOf(1))
    const held = await site.until('jobs.xml', 'held')

    const code = await decide(site, 'restore', first ?? held)
    const restored = await site.until('jobs.xml', 'uploaded', sha256(feedOf(10)))

    expect(code).toBe(0)
    expect(restored.id).toBeGreaterThan(held.id)
    expect(site.show(held.id).state).toBe('superseded')
    expect(stored(site)).toEqual([10, 6, 10].map((postings) => sha256(feedOf(postings))))
  })

  it('retry: a waiting version is sent now', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    site.sandbox.faults.add({
      ...({ at: 'storage', kind: 'answer', status: 503, retryAfter: '600', times: 1 } as const),
    })
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    const waiting = await eventually(() => {
      const [newest] = site.uploads()
      expect(newest?.nextAttemptAt).toBeTruthy()
      return newest
    })

    const code = await decide(site, 'retry', waiting ?? { id: 0 })

    expect(code).toBe(0)
    expect((await site.until('jobs.xml', 'uploaded')).attempts).toBe(2)
  })
})

it('a held empty feed stays visible in status, with its release, and in status --check, although a newer version is rejected', async () => {
  await using site = await withTen()
  site.drop('jobs.xml', '<source></source>')
  const held = await site.until('jobs.xml', 'held')

  site.drop('jobs.xml', '<source><job></source>')
  const broken = await site.until('jobs.xml', 'rejected')
  const { owed, uploads } = statusOf(site)
  const text = await site.run('status')
  const check = await site.run('status', '--check')

  expect(uploads.map(({ id }) => id)).toEqual([broken.id])
  expect(owed.map(({ id, state }) => [id, state])).toEqual([[held.id, 'held']])
  expect(text.stdout).toMatch(
    new RegExp(
      `^warning: jobs.xml held: .*\\n(?:  .*\\n)*    feedsyncd release ${held.id} --config `,
      'm',
    ),
  )
  expect(check).toMatchObject({ code: 1, stdout: expect.stringContaining('jobs.xml held: ') })
})
