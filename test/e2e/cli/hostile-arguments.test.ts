import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { Site } from '../../helpers/site.ts'

it('commands that take a name or a path print it with its control characters escaped', async () => {
  await using site = await Site.open()
  const name = 'no\x1b[2J\nerror: pe\u202e.xml'
  mkdirSync(join(site.root, 'd\x1b[2J'))
  writeFileSync(join(site.root, 'campaigns.yaml'), fileOf(entry('A')))
  const commands = [
    ...['upload', 'check', 'show', 'retry', 'release'].map((command) => [command, name]),
    ['upload', join(site.root, 'd\x1b[2J')],
    ['upload', site.configFile, '--feed', 'a\x1b[2J'],
    ['status', name],
    ['campaigns', 'forget', name],
    ['campaigns', 'plan', name],
    ['campaigns', 'apply', name],
    ['campaigns', 'apply', '--plan', name],
    ['campaigns', 'status', name],
    ['campaigns', 'history', name],
  ]

  for (const command of commands) {
    const { stdout, stderr } = await site.run(...command)
    expect(stdout + stderr, command.join(' ')).toContain('[2J')
    for (const harm of ['\x1b[2J', '\u202e', '\nerror: pe'])
      expect(stdout + stderr, command.join(' ')).not.toContain(harm)
  }
})
