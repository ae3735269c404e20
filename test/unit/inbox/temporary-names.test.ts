import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createNameFilter, temporaryPattern } from '../../../src/inbox/name-filter.ts'
import { openInbox, pathsOf, put, temporaryFolder } from '../../helpers/inbox/harness.ts'

/** The names that real writers use. */
const WRITTEN_BY: Record<string, string> = {
  rsync: '.jobs.xml.AbC123',
  WinSCP: 'jobs.xml.filepart',
  Firefox: 'jobs.xml.part',
  rclone: 'jobs.xml.1f2e3d4c.partial',
  'a plain tmp': 'jobs.xml.tmp',
  'a plain temp': 'jobs.temp',
  'Spring Integration': 'jobs.xml.writing',
  'Apache Camel lock': 'jobs.xml.camelLock',
  'Apache Camel in progress': 'jobs.xml.inprogress',
  'an incomplete download': 'jobs.xml.incomplete',
  'kafka-connect-spooldir': 'jobs.xml.PROCESSING',
  Chrome: 'jobs.xml.crdownload',
  Opera: 'jobs.xml.opdownload',
  Safari: 'jobs.xml.download',
  'an upload': 'jobs.xml.upload',
  'an uploader': 'jobs.xml.uploading',
  'a lock': 'jobs.xml.lock',
  'a short lock': 'jobs.xml.lck',
  uTorrent: 'jobs.xml.!ut',
  qBittorrent: 'jobs.xml.!qB',
  aria2: 'jobs.xml.aria2',
  Nextcloud: 'jobs.xml.ocTransferId1234567.part',
  SFTPGo: '.sftpgo-upload.cabc1234.jobs.xml',
  Syncthing: '.syncthing.jobs.xml.tmp',
  'Syncthing on Windows': '~syncthing~jobs.xml',
  ProFTPD: '.in.jobs.xml.',
  'NFS silly rename': '.nfs000000000123abcd00000001',
  FUSE: '.fuse_hidden0000000a00000001',
  LibreOffice: '.~lock.jobs.xml#',
  'Microsoft Office': '~$jobs.xml',
  Emacs: '#jobs.xml#',
  'an editor’s backup': 'jobs.xml~',
  vim: 'jobs.xml.swp',
  'vim again': 'jobs.xml.swo',
  'vim once more': 'jobs.xml.SWX',
}

describe('temporary names', () => {
  it.each(Object.entries(WRITTEN_BY))(
    'of %s are listed as temporary, and never as feeds',
    async (_writer, name) => {
      const folder = temporaryFolder()
      put(folder, name)
      const inbox = openInbox(folder, { include: ['**'] })

      const listing = await inbox.list()

      expect(listing.files).toEqual([])
      expect(listing.temporary.map(({ path }) => path)).toEqual([name])
      const filter = createNameFilter({ include: ['**'], exclude: [] })
      expect(filter.ignored(name)).toMatchObject({ rule: 'temporary-name' })
    },
  )

  it.each(['jobs.xml', 'part.xml', 'tmp-jobs.xml', 'a~b.xml', 'jobs.part.xml', '#1.xml', '$x.xml'])(
    'do not include %s',
    (name) => {
      expect(temporaryPattern(name)).toBeNull()
    },
  )

  it('cover everything below a directory that begins with a dot', async () => {
    const folder = temporaryFolder()
    put(folder, '.~tmp~/jobs.xml')
    put(folder, 'acme/.rsync-partial/jobs.xml')
    put(folder, 'acme/jobs.xml')

    const listing = await openInbox(folder).list()

    expect(pathsOf(listing)).toEqual(['acme/jobs.xml'])
  })

  it('end with the rename to the real name, when the feed arrives', async () => {
    const folder = temporaryFolder()
    const partial = put(folder, 'jobs.xml.filepart')
    const inbox = openInbox(folder)
    const before = await inbox.list()

    renameSync(partial, join(folder, 'jobs.xml'))
    const after = await inbox.list()

    expect(before.files).toEqual([])
    expect(pathsOf(after)).toEqual(['jobs.xml'])
    expect(after.temporary).toEqual([])
  })
})
