// Commands on a terminal of 80 columns, with long names and reasons. Only text that people copy may be wider: a
// command, or a single word such as an address.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { runWithin } from '../../helpers/command.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const COLUMNS = 80
const LONG = 'a-very-long-name-of-an-export-that-a-person-gave-to-a-file-in-the-folder-of-the-ats'
/** The label of a line: `reason    `, `TIME info  `, or only spaces. */
const LABEL = /^(\S+( \S+)? {2,}| +)/
const COMMAND = /^(next)?:? *(feedsyncd|systemctl|journalctl) /

/** shown returns what a command prints on a terminal of 80 columns. */
async function shown(site: Site, ...args: string[]): Promise<string> {
  const env = { ...process.env, ...site.runtime, COLUMNS: String(COLUMNS) }
  const { stdout } = await runWithin([...args, '--config', site.configFile], {
    env,
    terminal: true,
  })
  return stdout
}

it('no sentence of an answer is wider than the terminal, and status --check stays one line', async () => {
  await using site = await Site.open({
    alerts: [{ on: ['held'], exec: [`/nonexistent/${LONG}/pager`] }],
    guards: { minPostings: 2 },
  })
  const key = `KEY-${LONG}`.slice(0, 60)
  writeFileSync(join(site.root, 'campaigns.yaml'), fileOf(entry('NUR-Q1'), entry(key)))
  site.drop(`${LONG}/held.xml`, feedOf(1))
  site.drop(`${LONG}/${LONG}.xml`, '<source><job>&</job></source>')
  site.drop('good.xml', feedOf(3))
  site.sandbox.faults.add({
    ...{ at: 'storage', kind: 'answer', status: 400, times: 1 },
    body: '<?xml version="1.0"?><Error><Code>SignatureDoesNotMatchAnything</Code></Error>',
    headers: { 'content-type': 'application/xml' },
  })
  const log = join(site.root, 'log')
  writeFileSync(log, (await site.process('run', '--once')).stdout)
  await site.run('retry', '--all')
  const ids = site.uploads().map(({ id }) => String(id))
  const commands = [
    ['status'],
    ['status', '--all'],
    ...ids.map((id) => ['show', id]),
    ['show', 'feed:good.xml'],
    ['show', `${LONG}/held.xml`],
    ['doctor', '--offline'],
    ['campaigns', 'status'],
    ['campaigns', 'status', key],
    ['logs', '--file', log],
  ]

  for (const command of commands) {
    const text = await shown(site, ...command)
    const wide = text
      .split('\n')
      .filter((line) => line.length > COLUMNS && !COMMAND.test(line))
      .filter((line) => line.replace(LABEL, '').includes(' '))

    expect(wide, command.join(' ')).toEqual([])
    expect(text.length, command.join(' ')).toBeGreaterThan(COLUMNS)
  }
  expect(readFileSync(log, 'utf8')).toContain(LONG)
  expect((await shown(site, 'status', '--check')).trimEnd()).not.toContain('\n')
})
