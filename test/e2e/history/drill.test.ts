// Runs the drill of docs/several-hosts.md command by command on real files. The folders of a site stand for those of a
// host, and a daemon of the test stands for the unit.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { blocks, SEVERAL_HOSTS } from '../../helpers/runbook.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const drill = blocks(SEVERAL_HOSTS).filter(({ heading }) => heading === 'Drill of a restore')

it('the drill of a restore sends the waiting version, sends nothing twice, and ends with the restored directory alone', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  let daemon = await site.daemon()
  site.drop('done.xml', feedOf(5))
  await site.until('done.xml', 'uploaded')
  const down = site.sandbox.faults.add({
    ...{ at: 'service', kind: 'answer', status: 503, retryAfter: '600' },
  })
  site.drop('waits.xml', feedOf(10))
  await site.until('waits.xml', 'queued')
  const onHost = (command: string) =>
    command
      .replace(/ -[og] feedsyncd\b/g, '')
      .replaceAll('/var/lib/feedsyncd', join(site.root, 'state'))
      .replaceAll('/root/', `${site.root}/`)
  const step = async (command: string) => {
    const [program = '', ...words] = onHost(command).split(' ')
    if (command === 'systemctl stop feedsyncd') {
      await daemon.stop()
      down.remove()
    } else if (command === 'systemctl start feedsyncd') daemon = await site.daemon()
    else if (program === 'feedsyncd') expect((await site.run(...words)).code, command).toBe(0)
    else execFileSync(program, words)
  }

  for (const command of drill[0]?.commands ?? []) await step(command)
  await site.until('waits.xml', 'uploaded')
  await site.until('done.xml', 'uploaded')
  for (const command of drill[1]?.commands ?? []) await step(command)

  expect(drill.flatMap(({ commands }) => commands).length).toBeGreaterThan(5)
  expect(site.sandbox.objects()).toHaveLength(2)
  expect(readdirSync(join(site.root, 'state'))).toContain('feedsyncd.db')
  expect(existsSync(join(site.root, 'state.old'))).toBe(false)
})
