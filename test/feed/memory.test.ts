// A document is checked in 8 MB of memory, which the next document takes over.

import { afterEach, beforeEach, expect, it } from 'vitest'
import { readFeed } from '../../src/feed/feed-reader.ts'
import { streamPostings } from '../../src/feed/posting-stream.ts'
import { Folder, jobFor } from './helpers/feeds.ts'

const FEED = '<source><job><id>1</id></job><job><id>2</id></job></source>\n'

const { Instance } = WebAssembly
let memories = 0

beforeEach(() => {
  memories = 0
  WebAssembly.Instance = class extends Instance {
    constructor(...given: ConstructorParameters<typeof Instance>) {
      super(...given)
      memories++
    }
  }
})
afterEach(() => {
  WebAssembly.Instance = Instance
})

it('is given back after a fault, an early end and a cancelled reading', () => {
  using folder = new Folder()
  const good = jobFor(folder.file('good.xml', FEED))
  readFeed(good)
  memories = 0

  for (const [name, text] of Object.entries({
    fault: '<source><job></source>',
    bytes: '<source><job>\u0001</job></source>',
    early: '<source><job>',
    nothing: '',
  })) {
    const job = jobFor(folder.file(`${name}.xml`, text))
    for (let n = 0; n < 3; n++) readFeed(job)
  }
  let asked = 0
  for (let n = 0; n < 3; n++) readFeed(good, { pieceSize: 7, cancelled: () => ++asked % 4 === 0 })
  readFeed(good)

  expect(memories).toBe(0)
})

it('is given back when the postings of a damaged file are read, or reading them is stopped', async () => {
  using folder = new Folder()
  const file = folder.file('good.xml', FEED)
  const damaged = folder.file('damaged.xml', '<source><job></source>')
  const paths = {}
  const read = (path: string, signal: AbortSignal) =>
    streamPostings({ file: path, records: '/source/job', paths }, () => {}, {
      fields: ['id'],
      signal,
    })
  const { signal } = new AbortController()
  expect(await read(file, signal)).toBeNull()
  memories = 0

  for (let n = 0; n < 3; n++) {
    expect(await read(damaged, signal)).toContain('damaged')
    await expect(read(file, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  }
  expect(await read(file, signal)).toBeNull()

  expect(memories).toBe(0)
})
