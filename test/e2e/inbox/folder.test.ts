// Files in the vendor's folder other than good feeds.

import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesIn } from '../../helpers/inbox/files-in.ts'
import { untilSkipped } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

describe('names and kinds of files', () => {
  it('may be odd: each feed is uploaded, and status shows a name with a line break in one line', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
    const names = [
      'two\nlines.xml',
      'deep\n/er/two\nlines.xml',
      `${'n'.repeat(251)}.xml`,
      `${'é'.repeat(125)}x.xml`,
      'a b\u202e"\'$(id);*?[x].xml',
      '-rf.xml',
      '%00 %2e%2e%2f.xml',
    ]

    mkdirSync(join(site.inbox, 'deep\n', 'er'), { recursive: true })
    for (const name of names) writeFileSync(join(site.inbox, name), feedOf(2))
    for (const name of names) await site.until(name, 'uploaded')
    const { stdout } = await site.run('status')

    expect(site.sandbox.objects()).toHaveLength(names.length)
    expect(stdout).toContain('two\\nlines.xml')
    expect(stdout.split('\n').filter((line) => line.startsWith('lines.xml'))).toEqual([])
  })

  it('that cannot be read are shown with reason and hint, and are taken as soon as they can be read', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const outside = join(site.root, 'outside.xml')
    const at = (name: string) => join(site.inbox, name)
    writeFileSync(outside, feedOf(2))
    symlinkSync(outside, at('leaves.xml'))
    symlinkSync('nowhere', at('dangling.xml'))
    symlinkSync(site.root, at('directory'))
    execFileSync('mkfifo', [at('pipe.xml')])
    writeFileSync(
      Buffer.concat([Buffer.from(`${site.inbox}/caf`), Buffer.from([0xe9]), Buffer.from('.xml')]),
      feedOf(2),
    )
    await site.daemon()

    const reasons = async (name: string) => (await untilSkipped(site, name)).reason
    const told = {
      leaves: await reasons('leaves.xml'),
      dangling: await reasons('dangling.xml'),
      pipe: await reasons('pipe.xml'),
      unnameable: await reasons('./caf%E9.xml'),
      directory: await reasons('directory'),
    }
    const versions = site.uploads()
    const { stdout } = await site.run('status')
    unlinkSync(at('leaves.xml'))
    site.drop('leaves.xml', feedOf(2))
    await site.until('leaves.xml', 'uploaded')
    const checks = ['leaves.xml', 'pipe.xml'].map((feed) => site.run('status', feed, '--check'))

    expect((await Promise.all(checks)).map(({ code }) => code)).toEqual([0, 1])
    expect(told).toEqual({
      leaves: 'it is a symbolic link, which is not followed',
      dangling: 'it is a symbolic link, which is not followed',
      pipe: 'it is not a regular file (fifo)',
      unnameable: 'it has a name that is not valid UTF-8',
      directory: 'it is a symbolic link, which is not followed',
    })
    expect(versions).toEqual([])
    for (const reason of Object.values(told)) expect(stdout).toContain(reason)
    expect(stdout).toContain('rename it; its odd bytes are shown as %XX')
    expect(stdout).toContain('put the file or directory itself in its place')
    expect(stdout).toContain('\n  dangling.xml, directory, leaves.xml\n')
    expect(stdout).not.toContain('ignored by name')
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('make the daemon write nothing into the folder, if the configuration does not ask for it', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()

    site.drop('good.xml', feedOf(2))
    site.drop('bad.xml', '<a></b>')
    await site.until('good.xml', 'uploaded')
    await site.until('bad.xml', 'rejected')

    expect(filesIn(site.inbox)).toEqual(['bad.xml', 'good.xml'])
  })
})
