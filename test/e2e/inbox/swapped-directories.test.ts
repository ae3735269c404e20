// A directory of the folder becomes a link after the daemon looked at a file below it and before the daemon uses that
// file. Nothing outside the folder is ever read, sent, written or moved.

import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onNetwork } from '../../helpers/inbox/network-folder.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** swap replaces `sub` of the inbox by a link to another folder with the same names. */
function swap(site: Site): void {
  renameSync(join(site.inbox, 'sub'), join(site.root, 'moved'))
  symlinkSync(join(site.root, 'outside'), join(site.inbox, 'sub'))
}

function outside(site: Site): string {
  const file = join(site.root, 'outside', 'jobs.xml')
  mkdirSync(join(site.root, 'outside'))
  writeFileSync(file, feedOf(3, 'Secret'))
  return file
}

/** `onNetwork` removes the events, so that only a planned step looks at the folder again. */
const RARELY = { inbox: { rescan: '1h' } }

describe('a directory that becomes a link', () => {
  it('between the first and the last look at an incomplete file sends nothing, and the file counts as gone', async () => {
    onNetwork()
    await using site = await Site.open(
      { inbox: { ...RARELY.inbox, incompleteAfter: '1s' } },
      { clock: quickClock() },
    )
    outside(site)
    mkdirSync(join(site.inbox, 'sub'))
    writeFileSync(join(site.inbox, 'sub/jobs.xml'), '<source><job>')
    await site.daemon()
    await site.until('sub/jobs.xml', 'incomplete')

    swap(site)
    const { reason } = await site.until('sub/jobs.xml', 'gone')

    expect(reason).toContain('left the folder')
    expect(site.sandbox.objects()).toEqual([])
  })

  it.each(['check', 'upload'])('before a person names the file: %s refuses it', async (command) => {
    await using site = await Site.open()
    outside(site)
    mkdirSync(join(site.inbox, 'sub'))
    swap(site)

    const ran = await site.run(command, join(site.inbox, 'sub/jobs.xml'))

    expect(ran.code).not.toBe(0)
    expect(ran.stdout + ran.stderr).not.toContain('3 postings')
    expect(site.sandbox.objects()).toEqual([])
  })

  it('before a running daemon is asked to upload the file: it refuses', async () => {
    onNetwork()
    await using site = await Site.open(RARELY)
    outside(site)
    mkdirSync(join(site.inbox, 'sub'))
    await site.daemon()
    swap(site)

    const ran = await site.run('upload', join(site.inbox, 'sub/jobs.xml'))

    expect(ran.code).not.toBe(0)
    expect(site.sandbox.objects()).toEqual([])
  })

  it('may lie above a file that a person names elsewhere', async () => {
    await using site = await Site.open()
    outside(site)
    symlinkSync('outside', join(site.root, 'link'))

    const ran = await site.run(
      'upload',
      join(site.root, 'link/jobs.xml'),
      '--feed',
      'jobs.xml',
      '--new',
    )

    expect(ran.code).toBe(0)
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('may be the folder itself, because the configuration chooses it', async () => {
    await using site = await Site.open()
    renameSync(site.inbox, join(site.root, 'real'))
    symlinkSync('real', site.inbox)
    await site.daemon()

    site.drop('sub/jobs.xml', feedOf(2))
    await site.until('sub/jobs.xml', 'uploaded')

    expect(readFileSync(join(site.root, 'real/sub/jobs.xml'), 'utf8')).toBe(feedOf(2))
  })
})
