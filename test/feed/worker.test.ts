import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createFeedChecker } from '../../src/feed/worker-checker.ts'
import { Folder, jobFor } from './helpers/feeds.ts'

const FEED = '<source><job><id>1</id></job></source>'

describe('the feed checker', () => {
  it('answers jobs in order, with the postings', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const order: number[] = []

    const results = await Promise.all(
      [FEED, '<a>', '<a>&</a>'].map(async (document, i) => {
        const result = await checker.check(jobFor(folder.file(`${i}.xml`, document)))
        order.push(i)
        return result
      }),
    )

    expect(order).toEqual([0, 1, 2])
    expect(results).toMatchObject([
      { verdict: { kind: 'ok' }, postings: { ids: expect.any(BigUint64Array) } },
      { verdict: { kind: 'incomplete' }, postings: null },
      { verdict: { kind: 'broken' }, postings: null },
    ])
  })

  it('rejects an aborted job with its reason and goes on with the next one', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const large = `<source>${'<job><id>1</id></job>'.repeat(200_000)}</source>`
    const copyTo = join(folder.path, 'copy')
    const running = new AbortController()
    const waiting = new AbortController()

    const first = checker.check(jobFor(folder.file('1.xml', large), { copyTo }), running.signal)
    const second = checker.check(jobFor(folder.file('2.xml', FEED)), waiting.signal)
    const third = checker.check(jobFor(folder.file('3.xml', FEED)))
    running.abort(new Error('not wanted'))
    waiting.abort(new Error('not wanted either'))

    await expect(first).rejects.toThrow('not wanted')
    await expect(second).rejects.toThrow('not wanted either')
    await expect(checker.check(jobFor('x'), AbortSignal.abort(new Error('late')))).rejects.toThrow(
      'late',
    )
    await expect(third).resolves.toMatchObject({ verdict: { kind: 'ok' } })
    expect(existsSync(copyTo)).toBe(false)
  })

  it('rejects the job whose worker dies, removes its copy, and starts another worker', async () => {
    using folder = new Folder()
    const marker = join(folder.path, 'died')
    const entry = folder.file(
      'worker.mjs',
      `import { existsSync, writeFileSync } from 'node:fs'
       import { parentPort } from 'node:worker_threads'
       parentPort.on('message', ({ job }) => {
         if (existsSync(${JSON.stringify(marker)})) return parentPort.postMessage({ result: { kind: 'changed' } })
         writeFileSync(${JSON.stringify(marker)}, '')
         writeFileSync(job.copyTo, 'half')
         process.exit(1)
       })`,
    )
    await using checker = createFeedChecker({ entry: pathToFileURL(entry) })
    const copyTo = join(folder.path, 'copy')

    const first = checker.check(jobFor('/a.xml', { copyTo }))
    const second = checker.check(jobFor('/b.xml'))

    await expect(first).rejects.toThrow('reading /a.xml stopped: the reading thread ended')
    await expect(second).resolves.toEqual({ kind: 'changed' })
    expect(existsSync(copyTo)).toBe(false)
  })

  it('rejects a job with a field path that cannot be read, in words', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const mapping = { records: null, fields: { city: 'a[' } }

    const check = checker.check(jobFor(folder.file('a.xml', FEED), { mapping }))

    await expect(check).rejects.toMatchObject({
      name: 'FeedsyncError',
      message: 'the field path "a[" cannot be read',
      hint: expect.stringContaining('location/city'),
    })
  })

  it('rejects what is left when it is disposed of', async () => {
    using folder = new Folder()
    const checker = createFeedChecker()
    const large = `<source>${'<job><id>1</id></job>'.repeat(200_000)}</source>`

    const jobs = [
      checker.check(jobFor(folder.file('1.xml', large))),
      checker.check(jobFor('/b.xml')),
    ]
    const settled = Promise.allSettled(jobs)
    await checker[Symbol.asyncDispose]()

    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(checker.check(jobFor('/c.xml'))).rejects.toThrow('stopping')
  })

  it('holds up nothing while it reads: the loop turns', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const source = folder.file('a.xml')
    writeFileSync(source, `<source>${'<job><id>1</id></job>'.repeat(200_000)}</source>`)
    let turns = 0
    let reading = true
    const turn = () => {
      turns++
      if (reading) setImmediate(turn)
    }
    turn()

    await checker.check(jobFor(source))
    reading = false

    expect(turns).toBeGreaterThan(100)
  })
})
