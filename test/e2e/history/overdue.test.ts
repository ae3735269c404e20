import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('a feed that does not come is overdue in status without a daemon, and in status --check, until its rule gives more time', async () => {
  const nightly = { match: 'nightly/*.xml', name: 'nightly' }
  await using site = await Site.open(
    { feeds: [{ ...nightly, expectEvery: '10s' }] },
    { clock: quickClock() },
  )
  site.drop('nightly/a.xml', feedOf(3))
  site.drop('other.xml', feedOf(3))
  await site.run('run', '--once')
  const inTime = statusOf(site).uploads

  await eventually(() => {
    expect(statusOf(site).uploads.filter(({ overdue }) => overdue)).toHaveLength(1)
  })
  const { stdout } = await site.run('status')
  await site.daemon()
  const check = await site.run('status', '--check')
  site.configure({ feeds: [{ ...nightly, expectEvery: '26h' }] })
  const { uploads } = statusOf(site)

  expect(inTime.map(({ feed }) => feed).sort()).toEqual(['nightly', 'other.xml'])
  expect(stdout).toMatch(
    /^warning: nightly overdue: its next version was expected by [-\d :]+ UTC/m,
  )
  expect(check.code).toBe(1)
  expect(check.stdout).toMatch(
    /^WARNING - nightly overdue: its next version was expected by [-\d :]+ UTC\n$/,
  )
  expect(uploads.map(({ overdue }) => overdue)).toEqual([false, false])
  expect(uploads.filter(({ expectedBy }) => expectedBy !== null)).toHaveLength(1)
})
