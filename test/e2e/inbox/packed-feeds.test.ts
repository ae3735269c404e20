// Feeds that are gzip-compressed: the unpacked XML is the feed.

import { createHash } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('a gzip-compressed feed', () => {
  it('is stored unpacked, as a version of the feed with the same name without .gz', async () => {
    const rules = [{ match: '{1}/*.xml', name: '{1}' }]
    await using site = await Site.open({ feeds: rules }, { clock: quickClock() })
    await site.daemon()
    const [first, second, third] = [feedOf(20), feedOf(21), feedOf(22)]

    site.drop('jobs.xml.gz', gzipSync(first))
    const version = await site.until('jobs.xml', 'uploaded')
    site.drop('jobs.xml', first)
    await site.passed('jobs.xml', 'seen')
    site.drop('jobs.xml', second)
    await site.until('jobs.xml', 'uploaded', sha256(second))
    site.drop('jobs.xml.gz', gzipSync(third))
    const last = await site.until('jobs.xml', 'uploaded', sha256(third))
    site.drop('acme/JOBS.XML.GZ', gzipSync(first))
    await site.until('acme', 'uploaded', sha256(first))

    const { bytes, path, postings } = version
    expect({ bytes, path, postings, sha256: version.sha256 }).toEqual({
      bytes: Buffer.byteLength(first),
      path: 'jobs.xml.gz',
      postings: 20,
      sha256: sha256(first),
    })
    expect(last.changes).toEqual({ added: 1, removed: 0, changed: 0 })
    const stored = site.sandbox.objects()
    expect(stored.map((object) => object.sha256)).toEqual([first, second, third, first].map(sha256))
  })

  it('of several members that is written in pieces is uploaded when it is complete', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
    const feed = feedOf(400)
    const members = [feed.slice(0, 9_000), feed.slice(9_000)].map((part) => gzipSync(part))
    const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = members
    const path = join(site.inbox, 'jobs.xml.gz')

    writeFileSync(path, first.subarray(0, 300))
    await site.until('jobs.xml', 'incomplete')
    const inMember = site.uploads()[0]?.reason
    appendFileSync(path, first.subarray(300))
    const between = await site.passed('jobs.xml', 'incomplete', { nth: 2 })
    appendFileSync(path, second)
    await site.until('jobs.xml', 'uploaded', sha256(feed))

    expect(inMember).toBe('the gzip-compressed file ends early')
    expect(between.reason).toMatch(/^line \d+, column \d+: the document ends early/)
    expect(site.uploads({ all: true })).toHaveLength(1)
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('that is cut is rejected after the deadline, and taken when it is complete', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const packed = gzipSync(feedOf(50))
    await site.daemon()

    site.drop('jobs.xml.gz', packed.subarray(0, -4))
    await site.until('jobs.xml', 'incomplete')
    site.expire('jobs.xml')
    const { hint, reason } = await site.until('jobs.xml', 'rejected')
    site.drop('jobs.xml.gz', packed)
    await site.until('jobs.xml', 'uploaded', sha256(feedOf(50)))

    expect(reason).toBe('the gzip-compressed file ends early')
    expect(hint).toMatch(/its writer stopped/)
  })

  it('that is damaged or a bomb is rejected, leaves no copy, and is taken when it is corrected', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
    const packed = gzipSync(feedOf(50))

    site.drop('damaged.xml.gz', Buffer.concat([packed, Buffer.from('\n<!-- by hand -->')]))
    site.drop('bomb.xml.gz', gzipSync(Buffer.alloc(32 * 2 ** 20, ' ')))
    const damaged = await site.until('damaged.xml', 'rejected')
    const bomb = await site.until('bomb.xml', 'rejected')
    const copies = readdirSync(join(site.root, 'state', 'spool'))
    site.drop('damaged.xml.gz', packed)
    await site.until('damaged.xml', 'uploaded', sha256(feedOf(50)))

    expect([damaged.reasonCode, bomb.reasonCode]).toEqual(['gzip-corrupt', 'gzip-too-large'])
    expect(damaged.reason).toMatch(/^something else follows/)
    expect(bomb.reason).toMatch(/unpacks to more than 200 times its/)
    expect(copies).toEqual([])
  })

  it('is rejected if its name does not show it, and the reason says which name it needs', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()

    site.drop('jobs.xml', gzipSync(feedOf(5)))
    const { reason } = await site.until('jobs.xml', 'rejected')

    expect(reason).toMatch(/the file is gzip-compressed; give it a name that ends in \.xml\.gz/)
  })

  it('is archived in its compressed form', async () => {
    await using site = await Site.open(
      { inbox: { afterUpload: 'archive' } },
      { clock: quickClock() },
    )
    await site.daemon()

    const packed = gzipSync(feedOf(5))
    site.drop('jobs.xml.gz', packed)
    await site.until('jobs.xml', 'uploaded')

    const archive = join(site.root, 'state', 'archive')
    const archived = await eventually(() => {
      const [name = ''] = readdirSync(archive)
      expect(name).toMatch(/^jobs\.\d{8}T\d{9}Z\.xml\.gz$/)
      return readFileSync(join(archive, name))
    })
    expect(archived.equals(packed)).toBe(true)
  })
})

it('check and upload take gzip-compressed feeds, too', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const feed = feedOf(7)
  const file = join(site.root, 'jobs.xml.gz')
  const broken = join(site.root, 'broken.xml.gz')
  writeFileSync(file, gzipSync(feed))
  writeFileSync(broken, gzipSync('<a>\n & </a>'))

  const checked = await site.run('check', file, '--json')
  const mistaken = await site.run('check', broken)
  const uploaded = await site.run('upload', file, '--feed', 'jobs', '--new')

  expect(JSON.parse(checked.stdout).files[0]).toMatchObject({
    verdict: 'ok',
    postings: 7,
    bytes: Buffer.byteLength(feed),
    sha256: sha256(feed),
  })
  expect(mistaken).toMatchObject({
    code: 3,
    stdout: `${broken}: broken: line 2, column 2: "&" must be written "&amp;"\n`,
  })
  expect(uploaded.code).toBe(0)
  expect(site.sandbox.objects().map((object) => object.sha256)).toEqual([sha256(feed)])
})
