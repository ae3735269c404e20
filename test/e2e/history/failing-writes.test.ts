// Each kind of write fails once while feeds take every way through the states. Each feed reaches its right state
// without a restart and is sent once, and no request of another process is forgotten.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'
import { SmallDisk } from '../../helpers/small-disk.ts'

async function failingSite() {
  const site = await Site.open({ inbox: { incompleteAfter: '20s' } })
  const [file, log] = [join(site.root, 'fail'), join(site.root, 'failed')]
  writeFileSync(log, '')
  site.env = {
    ...preload('failing-writes.ts', 'fast-time.ts'),
    ...{ FEEDSYNCD_FAIL_FILE: file, FEEDSYNCD_FAIL_LOG: log },
    // About forty kinds of writes fail in turn, each with a pause of 5 s, so time runs faster. Timeouts stay as they
    // are.
    ...{ FEEDSYNCD_TIME_FACTOR: '50', FEEDSYNCD_REAL_TIMERS: '100000000' },
  }
  return {
    site,
    fail: (code: string) => writeFileSync(file, code),
    failed: () => readFileSync(log, 'utf8').trim().split('\n'),
  }
}

describe.concurrent('a daemon whose writes fail once each', () => {
  it.each(['SQLITE_FULL', 'SQLITE_IOERR_WRITE'])(
    'with %s brings each feed to its right state without a restart, sends each once, and leaves no partial copy',
    async (code) => {
      const { site, fail, failed } = await failingSite()
      await using _site = site
      const daemon = await site.daemonProcess()
      site.drop('held.xml', feedOf(10))
      await site.until('held.xml', 'uploaded')

      fail(code)
      site.drop('held.xml', feedOf(1))
      site.drop('ok.xml', feedOf(3))
      site.drop('same.xml', feedOf(4))
      site.drop('broken.xml', '<source><job></source>')
      site.drop('half.xml', feedOf(5).slice(0, 200))

      const ends = {
        ...{ held: 'held', ok: 'uploaded', same: 'uploaded' },
        ...{ broken: 'rejected', half: 'rejected' },
      }
      await eventually(() => {
        for (const [name, state] of Object.entries(ends))
          expect(`${name} is ${site.uploads({ feed: `${name}.xml` })[0]?.state}`).toBe(
            `${name} is ${state}`,
          )
      })
      expect(daemon.exitCode).toBe(null)
      expect(failed()).toEqual(
        expect.arrayContaining(['event checking to queued', 'event checking to rejected']),
      )
      expect(site.sandbox.objects().map(({ writes }) => writes)).toEqual([1, 1, 1])
      const left = readdirSync(join(site.root, 'state', 'spool'))
      expect(left.filter((name) => name.endsWith('.part'))).toEqual([])
    },
  )

  it('still answers the request of an upload', async () => {
    const { site, fail, failed } = await failingSite()
    await using _site = site
    await site.daemonProcess()
    mkdirSync(join(site.root, 'elsewhere'))
    const file = join(site.root, 'elsewhere', 'jobs.xml')
    writeFileSync(file, feedOf(3))

    fail('SQLITE_FULL')
    site.env = {}
    const { code, stderr, stdout } = await site.run('upload', file, '--feed', 'jobs', '--new')

    expect(code, stdout + stderr).toBe(0)
    expect(failed()).toContain('update requests')
  })
})

describe.concurrent('an incomplete file whose deadline comes while the spool is full', () => {
  it('is rejected once there is room, without a restart', async () => {
    await using site = await Site.open({ inbox: { incompleteAfter: '1h' } })
    using disk = new SmallDisk(join(site.root, 'state'))
    const daemon = await site.daemonProcess()
    site.drop('half.xml', feedOf(2000).slice(0, -20))
    const { id } = await site.passed('half.xml', 'incomplete')

    disk.fill(daemon, 100_000)
    // The deadline must not come before the disk is full.
    site.expire('half.xml')
    await eventually(() => expect(site.show(id).reason).toContain('not enough disk space'))
    disk.free(daemon)

    expect((await site.until('half.xml', 'rejected')).id).toBe(id)
  })
})

describe.concurrent('an upload that a daemon was asked for', () => {
  it('ends with exit 75 and says that the daemon has stopped when that daemon is gone, and the next daemon sends the file', async () => {
    await using site = await Site.open()
    const daemon = await site.daemonProcess()
    const gate = site.sandbox.faults.add({ at: 'service', kind: 'gate', point: 'headers' })
    const file = join(site.root, 'jobs.xml')
    writeFileSync(file, feedOf(3))
    const asked = site.run('upload', file, '--feed', 'jobs', '--new')
    await gate.held()
    daemon.kill('SIGKILL')
    const { code, stderr } = await asked
    gate.remove()

    await site.daemonProcess()

    expect(code).toBe(75)
    expect(stderr).toContain('the daemon has stopped')
    await site.until('jobs', 'uploaded')
  })
})
