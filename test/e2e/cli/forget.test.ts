// What a person does about feeds that get no more files: forget the feed, or discard a rejected version.

import { renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** uploadStray uploads a file from outside the inbox as a feed of its own. */
async function uploadStray(site: Site, bytes: string): Promise<void> {
  const file = join(site.root, 'stray.xml')
  writeFileSync(file, bytes)
  await site.run('upload', file, '--feed', 'stray.xml', '--new')
}

const feedsOf = (site: Site) => site.uploads().map(({ feed }) => feed)

describe('forget', () => {
  it('removes a feed without a file from status, and keeps its versions for show and for the guards', async () => {
    await using site = await Site.open()
    site.drop('jobs.xml', feedOf(3))
    site.drop('ended.xml', feedOf(10))
    await site.run('run', '--once')
    unlinkSync(join(site.inbox, 'ended.xml'))
    await site.run('run', '--once')

    const forgotten = await site.run('forget', 'ended.xml')
    const status = await site.run('status')
    const shown = await site.run('show', 'ended.xml')
    site.drop('ended.xml', feedOf(3))
    await site.run('run', '--once')

    expect(forgotten).toMatchObject({
      ...{ code: 0, stdout: 'ended.xml is forgotten until a new file comes\n' },
    })
    expect(status.stdout).toContain('jobs.xml')
    expect(status.stdout).not.toContain('ended.xml')
    expect(shown.stdout).toMatch(/^on the service: version \d, 10 postings/)
    expect(site.uploads({ feed: 'ended.xml' })).toMatchObject([{ state: 'held', guard: 'drop' }])
  })

  it.each([
    ['the file itself', (site: Site, away: string) => renameSync(away, join(site.inbox, 'a.xml'))],
    ['a file with the same bytes', (site: Site) => site.drop('a.xml', feedOf(3))],
  ])('lasts until %s comes back', async (_, comeBack) => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    await site.run('run', '--once')
    const away = join(site.root, 'away.xml')
    renameSync(join(site.inbox, 'a.xml'), away)
    await site.run('run', '--once')
    await site.run('forget', 'a.xml')
    const forgotten = feedsOf(site)

    comeBack(site, away)
    await site.run('run', '--once')

    expect(forgotten).toEqual([])
    expect(feedsOf(site)).toEqual(['a.xml'])
  })

  it('refuses a feed whose file is in the inbox', async () => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    await site.run('run', '--once')

    const { code, stderr } = await site.run('forget', 'a.xml')

    expect(code).toBe(1)
    expect(stderr).toContain('forget a.xml: its file a.xml is in the inbox\n')
    expect(feedsOf(site)).toEqual(['a.xml'])
  })

  it('refuses a feed that waits for a person, until the person decides', async () => {
    await using site = await Site.open()
    site.drop('jobs.xml', '<source/>')
    await site.run('run', '--once')
    unlinkSync(join(site.inbox, 'jobs.xml'))
    await site.run('run', '--once')

    const held = await site.run('forget', 'jobs.xml')
    await site.run('discard', '1')

    expect([held.code, held.stderr]).toEqual([
      1,
      `error: forget jobs.xml: version 1 of it is held\ntry: feedsyncd discard 1 --config ${site.configFile}\n`,
    ])
    expect(await site.run('forget', 'jobs.xml')).toMatchObject({ code: 0 })
  })

  it('removes the problem that a stray file makes in campaigns preview', async () => {
    await using vendor = await CampaignsSite.open(
      fileOf(entry('A', 'targeting: { jobTitles: [nurse] }')),
    )
    const { site } = vendor
    site.drop('jobs.xml', feedOf(4))
    await site.run('run', '--once')
    const preview = async () => {
      const { stdout } = await vendor.campaigns('preview', '--json')
      const { feeds, problems } = JSON.parse(stdout)
      return { feeds, problems }
    }
    await uploadStray(site, '<source><job><x>1</x></job></source>')

    const before = await preview()
    await site.run('forget', 'stray.xml')

    expect(before).toEqual({ feeds: 2, problems: [expect.stringMatching(/^stray\.xml: /)] })
    expect(await preview()).toEqual({ feeds: 1, problems: [] })
  })
})

it('discard dismisses a rejected version, so that monitoring is ok again and the feed can be forgotten', async () => {
  await using site = await Site.open()
  site.drop('jobs.xml', feedOf(3))
  await site.daemon()
  await site.until('jobs.xml', 'uploaded')
  await uploadStray(site, '<a></b>')
  const before = await site.run('status', '--check')

  const discarded = await site.run('discard', '2')
  const after = await site.run('status', '--check')
  await site.run('forget', 'stray.xml')

  expect([before.code, discarded.code, after.code]).toEqual([1, 0, 0])
  expect(feedsOf(site)).toEqual(['jobs.xml'])
})
