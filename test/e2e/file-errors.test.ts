// What an error at a file says about that file, against a running daemon whose file system fails.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type Lie, LyingFiles, NO_COMPILER } from '../helpers/lying-files.ts'
import { feedOf, Site } from '../helpers/site.ts'

const PATIENCE = { timeout: 60_000, interval: 20 }
const title = `an error of the moment${NO_COMPILER === null ? '' : ` (skipped: ${NO_COMPILER})`}`

describe.skipIf(NO_COMPILER !== null)(title, () => {
  const cases: [Lie, 'open' | 'read'][] = [
    ['EIO', 'open'],
    ['EIO', 'read'],
    ['ESTALE', 'open'],
    ['ESTALE', 'read'],
    ['ETIMEDOUT', 'read'],
    ['EMFILE', 'open'],
    ['ENFILE', 'open'],
    ['ENOMEM', 'open'],
  ]

  it.each(cases)('%s at %s is shown, and the file is sent once it is over', async (error, call) => {
    await using site = await Site.open()
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.fail(call, 'jobs.xml', error)
    await site.daemon()
    site.drop('jobs.xml', feedOf(2))

    const failed = await vi.waitFor(() => {
      const [upload] = site.uploads()
      if (!upload?.reason?.includes(error)) throw new Error(JSON.stringify(upload))
      return upload
    }, PATIENCE)
    files.tellTheTruth()
    const { id } = await site.until('jobs.xml', 'uploaded')

    expect(failed).toMatchObject({ state: 'settling', hint: expect.stringContaining('again') })
    expect(failed.reason).not.toContain('Unknown system error')
    expect(id).toBe(failed.id)
    expect(site.show(id).events.map(({ to }) => to)).not.toContain('rejected')
  })

  it('at the last look at an incomplete file puts no end to it', async () => {
    await using site = await Site.open({ inbox: { incompleteAfter: '1s' } })
    const files = new LyingFiles(site.root)
    site.env = files.env
    writeFileSync(join(site.inbox, 'jobs.xml'), '<source><job>')
    await site.daemon()
    await site.until('jobs.xml', 'incomplete')
    files.fail('open', 'jobs.xml', 'EIO')
    const { id } = await vi.waitFor(() => {
      const [upload] = site.uploads()
      if (!upload?.reason?.includes('EIO')) throw new Error(JSON.stringify(upload))
      return upload
    }, PATIENCE)
    files.tellTheTruth()

    const { reason } = await site.until('jobs.xml', 'rejected')

    expect(reason).toContain('the document ends early')
    expect(site.show(id).state).toBe('rejected')
  })

  it('that a person has to mend rejects the file, until its permissions change', async () => {
    await using site = await Site.open()
    const files = new LyingFiles(site.root)
    site.env = files.env
    files.fail('open', 'jobs.xml', 'EACCES')
    await site.daemon()
    site.drop('jobs.xml', feedOf(2))

    const { reason } = await site.until('jobs.xml', 'rejected')

    expect(reason).toContain('may not be read by this user')
  })
})
