import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { answerHashOrder } from '../../../src/feed/hash-follower.ts'
import { HungReads } from '../../../src/feed/hung-reads.ts'
import { createFeedChecker } from '../../../src/feed/worker-checker.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { identityOf } from '../../../src/lib/files.ts'
import { eventually } from '../../helpers/eventually.ts'
import { Folder, jobFor } from '../../helpers/feeds.ts'

const FEED = '<source><job><id>1</id></job></source>'

/** threadsFromNow returns a function that lists the threads that were started since this call. */
function threadsFromNow(): () => string[] {
  const all = () => readdirSync('/proc/self/task')
  const before = new Set(all())
  return () => all().filter((id) => !before.has(id))
}

describe('the feed checker', () => {
  it('answers each of several jobs that it has at the same time', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const documents = [FEED, '<a>', '<a>&</a>']

    const results = await Promise.all(
      documents.map((document, i) => checker.check(jobFor(folder.file(`${i}.xml`, document)))),
    )

    expect(results).toMatchObject([
      { verdict: { kind: 'ok' } },
      { verdict: { kind: 'incomplete' } },
      { verdict: { kind: 'broken' } },
    ])
  })

  it('starts one thread when files are announced, and else starts its thread with the first job', async () => {
    using folder = new Folder()
    const threads = threadsFromNow()

    await using announced = createFeedChecker()
    await using unannounced = createFeedChecker()
    const idle = threads().length
    announced.announce()
    announced.announce()
    const started = threads().length
    const result = await unannounced.check(jobFor(folder.file('a.xml', FEED)))

    expect([idle, started]).toEqual([0, 1])
    expect(result).toMatchObject({ verdict: { kind: 'ok' } })
  })

  it('compares two versions by their posting indexes, and answers null if an index is missing', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const indexes = { older: join(folder.path, 'older'), newer: join(folder.path, 'newer') }
    const grown = FEED.replace('</source>', '<job><id>2</id></job></source>')

    await checker.check(jobFor(folder.file('a.xml', FEED), { indexTo: indexes.older }))
    await checker.check(jobFor(folder.file('b.xml', grown), { indexTo: indexes.newer }))
    const changes = await checker.compare(indexes)
    const unknown = await checker.compare({ ...indexes, older: join(folder.path, 'missing') })

    expect(changes).toEqual({ added: 1, removed: 0, changed: 0 })
    expect(unknown).toBeNull()
  })

  it('rejects running, waiting and new jobs with the reason of their abort, leaves no copy, and does the next job', async () => {
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

  it('rejects a job that kills the worker, removes its copy, and completes the other jobs', async () => {
    using folder = new Folder()
    const entry = folder.file(
      'worker.mjs',
      `import { writeFileSync } from 'node:fs'
       export default async ({ kind, job }) => {
         if (kind === 'start') return null
         writeFileSync(job.copyTo, 'half')
         if (job.source !== '/fatal.xml') return { kind: 'result', result: { kind: 'changed' } }
         setImmediate(() => { throw new Error('worn out') })
         await new Promise(() => {})
       }`,
    )
    await using checker = createFeedChecker({ entry: pathToFileURL(entry) })
    const copyOf = (source: string) => join(folder.path, source)
    const check = (source: string) => checker.check(jobFor(source, { copyTo: copyOf(source) }))

    const [a, fatal, c] = ['/a.xml', '/fatal.xml', '/c.xml'].map(check)
    await expect(fatal).rejects.toThrow('reading /fatal.xml stopped: the reading thread ended')
    const others = await Promise.all([a, c, check('/later.xml')])

    expect(others).toEqual([{ kind: 'changed' }, { kind: 'changed' }, { kind: 'changed' }])
    expect(existsSync(copyOf('/fatal.xml'))).toBe(false)
  })

  it('repeats the jobs of a dead worker one by one, and rejects only the job that kills it', async () => {
    using folder = new Folder()
    const entry = folder.file(
      'worker.mjs',
      `let running = 0
       export default async ({ kind, job }) => {
         if (kind === 'start') return null
         running++
         if (job.source === '/fatal.xml') process.exit(1)
         await new Promise((resolve) => setImmediate(resolve))
         if (job.source === '/waits.xml' && running > 1) await new Promise(() => {})
         running--
         return { kind: 'result', result: { kind: 'changed' } }
       }`,
    )
    await using checker = createFeedChecker({ entry: pathToFileURL(entry) })

    const jobs = ['/waits.xml', '/fatal.xml', '/waits.xml'].map((source) =>
      checker.check(jobFor(source)),
    )
    const settled = await Promise.allSettled(jobs)

    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('reads a feed within its memory if each posting spells the paths of its fields differently', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const cases = (name: string, n: number) =>
      Array.from(name, (letter, i) => ((n >> i) & 1 ? letter.toUpperCase() : letter)).join('')
    const prefixes = Array.from({ length: 250 }, (_, i) => `p${i}`)
    const ids = prefixes.map((prefix) => `<${prefix}:id/>`).join('')
    // Each posting spells the path to its ids in its own way.
    const postings = Array.from({ length: 50 * 50 }, (_, n) => {
      const outer = cases('positionpostings', n % 50)
      const inner = cases('positionposting', Math.floor(n / 50))
      return `<job><${outer}><${inner}>${ids}</${inner}></${outer}></job>`
    })
    const namespaces = prefixes.map((prefix) => `xmlns:${prefix}="u"`).join(' ')

    const document = `<source ${namespaces}>${postings.join('')}</source>`
    const result = await checker.check(jobFor(folder.file('a.xml', document)))

    expect(result).toMatchObject({ verdict: { kind: 'ok', content: { postings: 2_500 } } })
  })

  it('has written complete copies of small feeds when it answers', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const documents = Array.from({ length: 40 }, (_, n) => FEED.replace('1', `${n}`))
    await Promise.all(
      documents.map(async (document, n) => {
        const source = folder.file(`${n}.xml`, document)
        const expected = identityOf(statSync(source, { bigint: true }))
        const [copyTo, indexTo] = [join(folder.path, `${n}.copy`), join(folder.path, `${n}.index`)]
        const result = await checker.check(jobFor(source, { expected, copyTo, indexTo }))
        expect(result).toMatchObject({ verdict: { kind: 'ok' } })
        expect(readFileSync(copyTo, 'utf8')).toBe(document)
      }),
    )
  })

  it('rejects a wrong field path with a message and a hint', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const mapping = { encoding: null, records: null, fields: { city: 'a[' } }

    const check = checker.check(jobFor(folder.file('a.xml', FEED), { mapping }))

    await expect(check).rejects.toMatchObject({
      name: 'FeedsyncError',
      message: 'the field path "a[" cannot be read',
      hint: expect.stringContaining('location/city'),
    })
  })

  it('rejects the remaining jobs when it is disposed of, and each later job', async () => {
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

  it('does not block the event loop while it reads', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const source = folder.file('a.xml')
    writeFileSync(source, `<source>${'<job><id>1</id></job>'.repeat(200_000)}</source>`)
    const began = performance.now()
    let [lastTurn, longestMs, isReading] = [began, 0, true]
    const turn = () => {
      longestMs = Math.max(longestMs, performance.now() - lastTurn)
      lastTurn = performance.now()
      if (isReading) setImmediate(turn)
    }
    setImmediate(turn)

    await checker.check(jobFor(source))
    isReading = false
    turn()

    // A blocked event loop would have no turn during the whole reading.
    expect(longestMs).toBeLessThan((lastTurn - began) / 2)
  })
})

describe('a difference for which one read hangs', () => {
  const mapping = { encoding: null, records: null, fields: {} }
  const side = (file: string) => ({ file, mapping, sha256: null })

  /**
   * hangingChecker returns a checker whose reads of `hung.xml` hang in a FIFO, with a clock by which a minute is 1 s.
   */
  function hangingChecker(folder: Folder) {
    const fifo = join(folder.path, 'fifo')
    execFileSync('mkfifo', [fifo])
    writeFileSync(join(folder.path, 'read'), '')
    vi.stubEnv('FEEDSYNCD_HANG', folder.path)
    const module = (path: string) => new URL(`../../../${path}`, import.meta.url).href
    const entry = folder.file(
      'worker.mjs',
      `import '${module('test/helpers/hanging.ts')}'
       export { default } from '${module('src/feed/check-worker.ts')}'`,
    )
    const monotonic = () => systemClock.monotonic() * 60
    const after = (_ms: number, run: () => void) => systemClock.after(20, run)
    const clock = { ...systemClock, after, monotonic }
    const hung = new HungReads()
    const checker = createFeedChecker({ entry: pathToFileURL(entry), clock, hung })
    onTestFinished(async () => {
      vi.unstubAllEnvs()
      rmSync(join(folder.path, 'read'), { force: true })
      await eventually(() => closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK)))
      await checker[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    })
    return { checker, hung }
  }

  it.each(['older', 'newer'] as const)(
    'is not known, names the %s file as hung, and is not read again while that read hangs',
    async (unread) => {
      const folder = new Folder()
      const { checker, hung } = hangingChecker(folder)
      const files = { older: folder.file('a.xml', FEED), newer: folder.file('b.xml', FEED) }
      files[unread] = folder.file('hung.xml', FEED)
      const sides = { older: side(files.older), newer: side(files.newer) }
      const job = { ...sides, mostNamed: 10, mostPostings: 10 }

      const first = await checker.difference(job)
      const threads = threadsFromNow()
      const second = await checker.difference(job)

      expect([first, second]).toEqual([null, null])
      expect(hung.all().map(({ path }) => path)).toEqual([files[unread]])
      expect(threads()).toEqual([])
    },
    20_000,
  )
})

describe('a large feed, which the main thread hashes', () => {
  const sha256Of = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
  /** digestsOf returns the hashes of a copied feed. */
  const digestsOf = (bytes: string) => ({
    sha256: sha256Of(bytes),
    md5: createHash('md5').update(bytes).digest('hex'),
  })
  const many = '<job><id>1</id></job>'.repeat(300_000)

  it.each([
    ['that is well-formed', `<source>${many}${many}</source>`, 'ok'],
    ['that is broken in the middle', `<source>${many}&${many}</source>`, 'broken'],
    ['that is broken at its first byte', `&${many}${many}`, 'broken'],
    ['that ends early', `<source>${many}${many}`, 'incomplete'],
  ])(
    'has the hashes of all its bytes with and without a copy, and leaves the copy only if it is ok: one %s',
    async (_, document, verdict) => {
      using folder = new Folder()
      await using checker = createFeedChecker()
      const source = folder.file('a.xml', document)
      const copyTo = join(folder.path, 'copy')

      const copied = await checker.check(jobFor(source, { copyTo }))
      const read = await checker.check(jobFor(source))

      expect(copied).toMatchObject({ verdict: { kind: verdict }, ...digestsOf(document) })
      expect(read).toEqual({ ...copied, md5: null })
      expect(existsSync(copyTo)).toBe(verdict === 'ok')
    },
  )

  it('has the hashes of its copy', async () => {
    using folder = new Folder()
    await using checker = createFeedChecker()
    const source = folder.file('a.xml', `<source>${many}${many}</source>`)
    const copyTo = join(folder.path, 'copy')

    const result = await checker.check(jobFor(source, { copyTo }))

    expect(result).toMatchObject(digestsOf(readFileSync(copyTo, 'utf8')))
  })

  it.each([
    ['is shorter than its size', (port: MessagePort) => port.postMessage(FEED.length + 1)],
    ['is given up', (port: MessagePort) => port.postMessage(-1)],
    ['belongs to a thread that has ended', (port: MessagePort) => port.close()],
  ])('is no longer read by the main thread if it %s', async (_, tell) => {
    using folder = new Folder()
    const { port1, port2: port } = new MessageChannel()
    const descriptor = openSync(folder.file('a.xml', FEED), 'r')
    const job = { descriptor, size: FEED.length + 1, isCopied: true }

    const answered = answerHashOrder({ job, port })
    tell(port1)

    await expect(answered).resolves.toBe(null)
    closeSync(descriptor)
  })

  it('leaves no copy after an abort and lets the next feed be read; disposal of the checker rejects it and leaves no thread', async () => {
    using folder = new Folder()
    const threads = threadsFromNow()
    const checker = createFeedChecker()
    const source = folder.file('a.xml', `<source>${many.repeat(4)}</source>`)
    const copyTo = join(folder.path, 'copy')
    const controller = new AbortController()

    const aborted = checker.check(jobFor(source, { copyTo }), controller.signal)
    controller.abort(new Error('not wanted'))
    await expect(aborted).rejects.toThrow('not wanted')
    const next = checker.check(jobFor(folder.file('b.xml', FEED)))
    await expect(next).resolves.toMatchObject({ sha256: sha256Of(FEED) })
    expect(existsSync(copyTo)).toBe(false)
    const last = checker.check(jobFor(source))
    await Promise.all([expect(last).rejects.toThrow('stopping'), checker[Symbol.asyncDispose]()])
    await eventually(() => expect(threads()).toEqual([]))
  })
})
