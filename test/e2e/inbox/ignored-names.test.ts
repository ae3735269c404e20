// A feed with a wrong name is ignored. Its writer would wait for the upload, so status counts and names it.

import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { pathReportOf, statusOf } from '../../helpers/look.ts'
import { feedOf, Site } from '../../helpers/site.ts'

describe('files that are ignored by name', () => {
  it('are counted and named in status until they get a matching name', async () => {
    await using site = await Site.open({ inbox: { exclude: ['old/**'] } })
    const names = ['feed.xml.zip', 'jobs.txt', 'sub/jobs.csv']
    for (const name of [...names, 'old/readme.txt', 'late.xml.part']) site.drop(name, feedOf(2))
    mkdirSync(join(site.inbox, 'directory.d'))
    await site.daemon()

    const ignored = () => statusOf(site).daemon.ignored
    await eventually(() => expect(ignored()).toEqual({ count: 3, paths: names }))
    const { stdout } = await site.run('status')
    const explanation = await pathReportOf(site, 'jobs.txt')

    expect(stdout).toContain('3 files are ignored by name: feed.xml.zip, jobs.txt, sub/jobs.csv\n')
    expect(stdout).toContain('\n    feedsyncd show path:feed.xml.zip --config ')
    expect(explanation.because).toBe(
      'no pattern of inbox.include matches it (**/*.xml, **/*.xml.gz)',
    )
  })

  it('are shown as ten names and the total number', async () => {
    await using site = await Site.open()
    const names = Array.from({ length: 12 }, (_, n) => `jobs-${String(n).padStart(2, '0')}.txt`)
    for (const name of names) writeFileSync(join(site.inbox, name), '')
    await site.run('run', '--once')

    const { stdout } = await site.run('status')

    expect(statusOf(site).daemon.ignored).toEqual({ count: 12, paths: names.slice(0, 10) })
    expect(stdout).toContain('jobs-09.txt, and 2 more\n')
  })

  it('do not include a file whose extension differs only in case', async () => {
    await using site = await Site.open({
      feeds: [{ match: '{1}/*.xml', name: 'feed of {1}' }],
    })
    await site.daemon()

    site.drop('acme/JOBS.XML', feedOf(2))
    const { path } = await site.until('feed of acme', 'uploaded')

    expect(path).toBe('acme/JOBS.XML')
  })

  it('keep no feed from being sent, even 5,000 of them with 200 links, and all are counted', async () => {
    await using site = await Site.open()
    const many = join(site.inbox, 'many')
    mkdirSync(many)
    execFileSync('sh', ['-c', 'seq 5000 | sed "s/$/.txt/" | xargs touch'], { cwd: many })
    for (let n = 0; n < 200; n++) symlinkSync('/etc/passwd', join(many, `${n}.xml`))
    site.drop('a.xml', feedOf(3))

    await site.run('run', '--once')

    expect(site.uploads({ feed: 'a.xml' })[0]?.state).toBe('uploaded')
    expect(statusOf(site).daemon.ignored.count).toBe(5_000)
    expect(statusOf(site).skipped).toHaveLength(200)
    expect((await pathReportOf(site, 'many/7.xml')).because).toContain('symbolic link')
  })
})
