// docs/json.md names no field that the commands do not print. test/smoke/help-and-json.test.ts holds the other direction.

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { eventually } from '../../helpers/eventually.ts'
import { fieldsOf, namedBy, pathsOf } from '../../helpers/json-page.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, type Site } from '../../helpers/site.ts'

async function printed(site: Site, ...args: string[]): Promise<string[]> {
  const { stdout } = await site.run(...args, '--json')
  return pathsOf(JSON.parse(stdout))
}

/** unprinted returns the fields of a section that no answer has. */
function unprinted(heading: string, paths: readonly string[]): string[] {
  const all = new Set(paths)
  return fieldsOf(heading)
    .filter(({ type }) => type !== 'object')
    .filter((field) => ![...all].some((path) => namedBy(path, [field]) !== undefined))
    .map(({ name }) => name)
}

/** A field of an empty list, or one that only a rare moment has. test/unit/ops holds them. */
const RARE = [
  'problems[].subject.account',
  ...[
    'campaigns.failures[].key',
    'campaigns.failures[].campaignId',
    'campaigns.failures[].outcome',
  ],
  ...['campaigns.failures[].reason', 'uploads[].warnings[]', 'owed[].warnings[]', 'warnings[]'],
  ...['campaigns.entries[].changes[]', 'uploads[].files.paths[]', 'owed[].files.paths[]'],
]

it('status, show, pause and resume print every field that docs/json.md names for them', async () => {
  await using vendor = await CampaignsSite.open(fileOf(entry('NUR-Q1')))
  const { site } = vendor
  await vendor.campaigns('create', '--name', 'Cooks', '--budget', '10', '--yes')
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(10))
  await site.until('jobs.xml', 'uploaded')
  site.drop('jobs.xml', feedOf(10))
  site.drop('jobs.xml', '<source></source>')
  await site.until('jobs.xml', 'held')
  site.drop('jobs.xml', '<source><job></source>')
  await site.until('jobs.xml', 'rejected')
  site.drop('table.csv', 'a,b')
  const old = join(site.inbox, 'old.xml.part')
  writeFileSync(old, feedOf(1))
  utimesSync(old, 1, 1)
  execFileSync('mkfifo', [join(site.inbox, 'pipe.xml')])
  await site.run('pause')
  await site.run('pause', 'jobs.xml')
  await eventually(() => {
    const { campaigns, daemon: shown, skipped } = statusOf(site)
    expect([skipped.length, shown.unfinished.length, shown.ignored.count]).toEqual([1, 1, 1])
    expect(campaigns?.findings.length ?? 0).toBeGreaterThan(0)
  })
  const paused = await printed(site, 'status')
  const shown = await printed(site, 'show', '1')
  const feed = await printed(site, 'show', 'jobs.xml')
  const path = await printed(site, 'show', 'path:table.csv')
  const pauses = await printed(site, 'resume', 'jobs.xml')
  rmSync(site.inbox, { recursive: true })
  await eventually(() => expect(statusOf(site).daemon.conditions.length).toBeGreaterThan(0))
  const broken = await printed(site, 'status')
  mkdirSync(site.inbox)
  await daemon.stop()

  const rare = (fields: string[]) => fields.filter((name) => !RARE.includes(name))
  expect(rare(unprinted('`status`', [...paused, ...broken]))).toEqual([])
  const ofShow = rare(
    unprinted('`show`', [...shown, ...paused.map((one) => one.replace('uploads[].', ''))]),
  )
  expect(ofShow.filter((name) => !/^events\[\]\.(count|firstAt)$/.test(name))).toEqual([])
  expect(rare(unprinted('`show FEED`', feed))).toEqual([])
  expect(rare(unprinted('`show PATH`', path))).toEqual([])
  expect(unprinted('`pause` and `resume`', [...pauses, ...paused])).toEqual([])
})
