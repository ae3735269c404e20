// A name or an id that does not exist is a mistake of the caller. Every command answers it in the same way.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('an unknown name ends a command with 64, and with the nearest name if one is near', async () => {
  await using site = await Site.open()
  site.drop('acme.xml', feedOf(3))
  writeFileSync(join(site.root, 'campaigns.yaml'), fileOf(entry('NUR-Q1')))
  await site.run('run', '--once')
  const feed = 'no feed is named "acne.xml"; the nearest is "acme.xml"'
  const campaign = 'no entry is named "NUR-Q2"; the nearest is "NUR-Q1"'

  for (const [message, step, ...args] of [
    [feed, 'feedsyncd status acme.xml', 'status', 'acne.xml'],
    [feed, 'feedsyncd status acme.xml', 'status', 'acne.xml', '--json'],
    [feed, 'feedsyncd show acme.xml', 'show', 'feed:acne.xml'],
    [feed.replace('feed', 'feed or file'), 'feedsyncd show acme.xml', 'show', 'acne.xml'],
    [feed, 'feedsyncd diff acme.xml', 'diff', 'acne.xml'],
    [feed, 'feedsyncd status', 'forget', 'acne.xml'],
    [feed, 'feedsyncd status', 'pause', 'acne.xml'],
    [feed, 'feedsyncd status', 'resume', 'acne.xml'],
    ['no feed is named "x"', 'feedsyncd status', 'status', 'x'],
    [campaign, 'to see the entries: feedsyncd campaigns status', 'campaigns', 'status', 'NUR-Q2'],
    [campaign, 'to see the entries: feedsyncd campaigns status', 'campaigns', 'history', 'NUR-Q2'],
    [campaign, 'to see the entries: feedsyncd campaigns status', 'campaigns', 'preview', 'NUR-Q2'],
  ] as const) {
    const { code, stderr, stdout } = await site.run(...args)

    expect([code, stdout], args.join(' ')).toEqual([64, ''])
    expect(stderr).toBe(`error: ${message}\ntry: ${step} --config ${site.configFile}\n`)
  }
})

it('an unknown id ends a command with 64 and the newest id', async () => {
  await using site = await Site.open()
  site.drop('acme.xml', feedOf(3))
  await site.run('run', '--once')

  const commands = ['show', 'diff', 'cat', 'release', 'discard', 'retry', 'restore']
  for (const args of [...commands.map((command) => [command, '99']), ['diff', '99', '1']]) {
    const { code, stderr, stdout } = await site.run(...args)

    expect([code, stdout], args.join(' ')).toEqual([64, ''])
    expect(stderr).toMatch(
      /^error: there is no version 99; the newest is 1\ntry: feedsyncd status --all/,
    )
  }
})

it('a feed without a version in the requested state is not an unknown feed', async () => {
  await using site = await Site.open()
  site.drop('acme.xml', feedOf(3))
  await site.run('run', '--once')

  const { code, stdout } = await site.run('status', 'acme.xml', '--state', 'failed')

  expect([code, stdout]).toEqual([0, expect.stringContaining('nothing matches')])
})
