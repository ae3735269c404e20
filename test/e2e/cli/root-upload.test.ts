// Commands that root runs beside a daemon with an account of its own. They need root to be tried.

import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { feedOf } from '../../helpers/feed.ts'
import { statusOf } from '../../helpers/look.ts'
import { finished, Site } from '../../helpers/site.ts'

/** `nobody` of Debian; no account of this number has to exist. */
const ACCOUNT = 65_534

/** A site whose state directory belongs to the unit's user. */
async function ownedSite(): Promise<Site> {
  const site = await Site.open()
  const state = join(site.root, 'state')
  mkdirSync(state)
  chownSync(state, ACCOUNT, ACCOUNT)
  chmodSync(site.root, 0o755)
  chownSync(join(site.root, 'service.key'), ACCOUNT, ACCOUNT)
  return site
}

function ownersIn(site: Site): string[] {
  const state = join(site.root, 'state')
  return readdirSync(state, { recursive: true, encoding: 'utf8' }).map(
    (name) => `${name}: ${statSync(join(state, name)).uid}`,
  )
}

describe.skipIf(process.getuid?.() !== 0)('root', () => {
  it('uploads with the daemon stopped, and leaves all files to the owner of the state directory', async () => {
    await using site = await ownedSite()
    for (const [name, postings] of [
      ['small.xml', 3],
      ['large.xml', 3000],
    ] as const) {
      writeFileSync(join(site.root, name), feedOf(postings))
      expect(await site.run('upload', join(site.root, name))).toMatchObject({ code: 0 })
    }

    const owners = ownersIn(site)

    expect(owners.length).toBeGreaterThan(4)
    expect(owners.filter((owner) => !owner.endsWith(`: ${ACCOUNT}`))).toEqual([])
  })

  it('who left files in the spool that the daemon cannot read is told so, as a critical condition', async () => {
    await using site = await ownedSite()
    const refusal = { at: 'service', kind: 'answer', status: 503, retryAfter: '600' } as const
    const fault = site.sandbox.faults.add(refusal)
    writeFileSync(join(site.root, 'large.xml'), feedOf(3000))
    await site.run('upload', join(site.root, 'large.xml'))
    const spool = join(site.root, 'state', 'spool')
    for (const name of readdirSync(spool)) chownSync(join(spool, name), 0, 0)
    fault.remove()
    await site.run('retry', '--all')
    const account = ['setpriv', `--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, '--clear-groups']

    site.spawnBy(account, 'run')
    await eventually(() => {
      expect(statusOf(site).daemon.conditions).toMatchObject([
        {
          code: 'state-foreign-owner',
          severity: 'critical',
          hint: expect.stringMatching(/^chown /),
        },
      ])
    })

    const check = await site.run('status', '--check')
    expect(check.code).toBe(2)
    for (const name of readdirSync(spool)) chownSync(join(spool, name), ACCOUNT, ACCOUNT)
    await site.run('retry', '--all')
    await eventually(() => expect(statusOf(site).daemon.conditions).toEqual([]))
  })
})

describe.skipIf(process.getuid?.() !== 0)(
  'files in the state directory that belong to another user',
  () => {
    const as = (id: number) => ['setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups']

    it('stop a start with the command that gives them back', async () => {
      await using site = await ownedSite()
      await site.run('run', '--once')
      const start = () => finished(site.spawnBy(as(ACCOUNT), 'run', '--once'))

      for (const name of ['feedsyncd.db', 'daemon.lock', 'spool']) {
        const path = join(site.root, 'state', name)
        chownSync(path, 0, 0)

        const refused = await start()
        const [, command = 'false'] = /^try: (chown .+)$/m.exec(refused.stderr) ?? []
        execFileSync('/bin/sh', ['-c', command])

        expect(refused.code).toBe(75)
        expect(refused.stderr).toContain(`${path} belongs to another user (uid 0)`)
        expect(statSync(path).uid).toBe(ACCOUNT)
      }
      expect(await start()).toMatchObject({ code: 0 })
    })

    it('are no advice to change rights for who merely asks', async () => {
      await using site = await ownedSite()
      await site.run('run', '--once')
      chmodSync(join(site.root, 'state'), 0o750)

      const { code, stderr } = await finished(site.spawnBy(as(ACCOUNT - 1), 'status'))

      expect(code).toBe(75)
      expect(stderr).toMatch(
        /^try: run this as root, or as the user that owns .+state \(uid 65534\)/m,
      )
    })
  },
)
