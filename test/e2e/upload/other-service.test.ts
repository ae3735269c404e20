// The daemon starts with another service, or as another account: the earlier uploads are not there.

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

it.each([
  ['service', '123'],
  ['account', '124'],
])(
  'another %s is logged once, and gets an uploaded feed when it is dropped again or uploaded by command',
  async (_, account) => {
    const clock = quickClock()
    await using other = await Site.open({}, { clock, callers: [{ account, secret: SECRET }] })
    await using site = await Site.open({}, { clock })
    const first = await site.daemon()
    site.drop('a.xml', feedOf(3))
    site.drop('b.xml', feedOf(4))
    await site.until('a.xml', 'uploaded')
    await site.until('b.xml', 'uploaded')
    await first.stop()

    site.configure({ service: { baseUrl: other.sandbox.url, account } })
    const second = await site.daemon()
    const said = JSON.parse(await site.logged(second, '"event":"service.changed"'))
    site.drop('a.xml', feedOf(3))
    await site.passed('a.xml', 'uploaded', { nth: 2 })
    const ran = await site.run('upload', join(site.inbox, 'b.xml'), '--json')
    await second.stop()
    const third = await site.daemon()
    site.drop('a.xml', feedOf(3))
    await site.passed('a.xml', 'seen')

    expect(said.hint).toContain('restore one of these: feedsyncd status --all')
    expect(JSON.parse(ran.stdout)).toMatchObject({ id: 4, state: 'uploaded' })
    expect(other.sandbox.objects()).toHaveLength(2)
    expect(third.output).not.toContain('service.changed')
  },
)

it.each([
  [{ account: '123' }, { account: '123', partner: null, partner_account: null }],
  [
    { partner: 'ats', partnerAccount: '43' },
    { account: null, partner: 'ats', partner_account: '43' },
  ],
])(
  'the history names %j in a fixed form, so that a new feedsyncd does not see another service',
  async (identity, noted) => {
    await using site = await Site.open({ service: { account: undefined, ...identity } })

    await site.run('run', '--once')

    const db = new Database(join(site.root, 'state', 'feedsyncd.db'), { readonly: true })
    const found = db.prepare('SELECT base_url, account, partner, partner_account FROM settings')
    expect(found.all()).toEqual([{ base_url: site.sandbox.url, ...noted }])
    db.close()
  },
)
