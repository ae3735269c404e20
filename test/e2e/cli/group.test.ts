import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { feedOf, finished, Site } from '../../helpers/site.ts'

const GROUP = 54_321
const USER = ['setpriv', '--reuid=54320', `--regid=${GROUP}`, '--clear-groups']
/** The umask of the unit. */
const MASK = ['sh', '-c', 'umask 0027; exec "$@"', 'sh']

it.skipIf(process.getuid?.() !== 0)(
  'a member of the group may read status, --check and show, and status without a daemon too, but may not decide',
  async () => {
    await using site = await Site.open()
    const state = join(site.root, 'state')
    mkdirSync(state)
    chownSync(state, 0, GROUP)
    chmodSync(state, 0o2750)
    chmodSync(site.root, 0o755)
    const daemon = site.spawnBy(MASK, 'run')
    await site.logged(daemon, 'daemon started')
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    const asked = (...args: string[]) => finished(site.spawnBy(USER, ...args))

    const checked = await asked('status', '--check')
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/^OK - 1 feed/)])
    expect((await asked('status')).stdout).toContain('daemon running')
    expect((await asked('show', '1')).stdout).toContain('uploaded')
    expect(await asked('discard', '1')).toMatchObject({ code: 1, stdout: '' })

    daemon.kill('SIGTERM')
    await finished(daemon)
    expect((await asked('status')).stdout).toMatch(/daemon not running[\s\S]*uploaded/)
  },
)
