import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('a copy that is cut while it is sent never counts as stored, and is sent whole once it is whole again', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const gate = site.sandbox.faults.add({
    ...({ at: 'storage', kind: 'gate', point: 'headers', times: 1 } as const),
  })
  await site.daemon()
  site.drop('a.xml', feedOf(3_000, 'Nurse'.padEnd(600, '.')))
  await gate.held()
  const spool = join(site.root, 'state/spool')
  const [copy = ''] = readdirSync(spool).filter((name) => !name.includes('index'))
  const whole = readFileSync(join(spool, copy))
  truncateSync(join(spool, copy), 1_000)
  gate.remove()
  await eventually(() => expect(site.show(1).attempts[0]?.outcome).toMatch(/.+/))
  const { attempts, state } = site.show(1)
  writeFileSync(join(spool, copy), whole)
  if (state === 'failed') await site.run('retry', '1')
  await site.until('a.xml', 'uploaded')

  expect(attempts[0]?.outcome).not.toBe('stored')
  expect(site.sandbox.objects().map(({ sha256 }) => sha256)).toEqual([site.uploads()[0]?.sha256])
})
