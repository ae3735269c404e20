import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { examples } from '../../helpers/feeds-page.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('check says of a path that is mistyped that there is no such file', async () => {
  await using site = await Site.open()

  const { code, stderr, stdout } = await site.run('check', 'mistyped.xml')

  expect([code, stdout]).toEqual([64, ''])
  expect(stderr).toBe('error: check mistyped.xml: there is no such file\ntry: check the path\n')
})

it('check answers the documented JSON and exits 3 when any file is not ok', async () => {
  await using site = await Site.open()
  const good = join(site.root, 'good.xml')
  const bad = join(site.root, 'bad.xml')
  writeFileSync(good, feedOf(3))
  writeFileSync(bad, '<source>\n  <job>&nbsp;</job>\n</source>')

  const { code, stdout } = await site.run('check', good, bad, '--json')

  const answer = JSON.parse(stdout)
  expect(code).toBe(3)
  expect(answer.schemaVersion).toBe(1)
  expect(answer.files[0]).toMatchObject({
    path: good,
    verdict: 'ok',
    root: 'source',
    records: '/source/job',
    postings: 3,
    encoding: 'UTF-8',
    externalCampaignIds: { A: 1, B: 2 },
    requisitionIds: 0,
  })
  expect(answer.files[1]).toMatchObject({ path: bad, verdict: 'broken', line: 2, column: 8 })
})

it('check prints what docs/feeds.md says of its examples', async () => {
  await using site = await Site.open()
  const said: string[] = []
  const printed: string[] = []

  for (const example of examples()) {
    if (example.kind === 'file') {
      if (example.name.endsWith('.yaml')) site.configure(parse(example.text))
      else writeFileSync(join(site.inbox, example.name), example.text)
    } else {
      const [command = '', name = ''] = example.args
      const { stdout } = await site.run(command, join(site.inbox, name))
      said.push(example.prints)
      printed.push(stdout.replace(`${site.inbox}/`, ''))
    }
  }

  expect(printed).toEqual(said)
  expect(printed).toHaveLength(5)
})
