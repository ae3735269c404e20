import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Inbox } from '../../../src/inbox/folder.ts'
import type { WatchEvents, WatchOpener } from '../../../src/inbox/watch-keeper.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { eventually } from '../../helpers/eventually.ts'
import {
  ManualClock,
  openInbox,
  pathsOf,
  put,
  temporaryFolder,
} from '../../helpers/inbox/harness.ts'

/** watched watches the inbox and returns its mode and `hintAfter`. */
async function watched(inbox: Inbox) {
  let tell = () => {}
  let next = Promise.resolve()
  const arm = () => {
    next = new Promise((resolve) => {
      tell = resolve
    })
  }
  arm()
  await inbox.watch(() => tell())
  return {
    mode: inbox.watchMode,
    /** hintAfter resolves with the first hint after `action` began, once `action` has ended too. */
    async hintAfter(action: () => unknown): Promise<void> {
      arm()
      await Promise.all([action(), next])
    },
  }
}

/** faked returns the events of a watch, which the test calls, and the number of hints so far. */
async function faked() {
  let events: WatchEvents = { touched: () => {}, failed: () => {} }
  let hints = 0
  const inbox = openInbox(temporaryFolder(), {
    clock: new ManualClock(),
    openWatch: async (_directory, opened) => {
      events = opened
      return { close: async () => {} }
    },
  })
  await inbox.watch(() => hints++)
  return { events, hints: () => hints }
}

function fails(code: string): Error {
  return Object.assign(new Error(`watch failed: ${code}`), { code })
}

describe('events', () => {
  it('hint at files that are written, moved in or removed, at every depth', async () => {
    const folder = temporaryFolder()
    const outside = temporaryFolder()
    put(folder, 'acme/a.xml')
    const { mode, hintAfter } = await watched(openInbox(folder))

    expect(mode).toEqual({ mode: 'events' })
    await hintAfter(() => put(folder, 'new.xml'))
    await hintAfter(() => appendFileSync(join(folder, 'acme/a.xml'), ' '))
    await hintAfter(() => renameSync(put(outside, 'b.xml'), join(folder, 'acme/b.xml')))
    await hintAfter(() => rmSync(join(folder, 'acme/b.xml')))
  })

  it('hint at files in directories that are made or moved in later', async () => {
    const folder = temporaryFolder()
    const outside = temporaryFolder()
    const inbox = openInbox(folder)
    const { hintAfter } = await watched(inbox)
    put(outside, 'tree/deep/a.xml')

    await hintAfter(() => renameSync(join(outside, 'tree'), join(folder, 'tree')))
    const listing = await inbox.list()

    expect(pathsOf(listing)).toEqual(['tree/deep/a.xml'])
    await hintAfter(() => appendFileSync(join(folder, 'tree/deep/a.xml'), ' '))
  })

  it('do not hint at a temporary name, only at its rename', async () => {
    const { events, hints } = await faked()
    for (let chunk = 0; chunk < 10; chunk++) events.touched('jobs.xml.filepart')
    await setImmediate()
    const during = hints()
    events.touched('jobs.xml')

    await setImmediate()

    expect(during).toBe(0)
    expect(hints()).toBe(1)
  })

  it('of a burst become one hint', async () => {
    const { events, hints } = await faked()

    for (let n = 0; n < 500; n++) events.touched(`feed-${n}.xml`)
    await setImmediate()

    expect(hints()).toBe(1)
  })

  it('continue after the folder was deleted and made again', async () => {
    const folder = join(temporaryFolder(), 'inbox')
    mkdirSync(folder)
    const inbox = openInbox(folder)
    const { hintAfter } = await watched(inbox)
    await inbox.list()

    rmSync(folder, { recursive: true })
    const during = await inbox.list()
    mkdirSync(folder)
    await hintAfter(() => inbox.list())
    const after = await inbox.list()

    expect(during.folder.kind).toBe('unavailable')
    expect(after.folder.kind).toBe('ready')
    await hintAfter(() => put(folder, 'a.xml'))
  })

  it('continue after the folder was deleted and made again between two listings', async () => {
    const folder = join(temporaryFolder(), 'inbox')
    put(folder, 'a.xml')
    const inbox = openInbox(folder)
    const { hintAfter } = await watched(inbox)
    await inbox.list()

    await hintAfter(() => {
      rmSync(folder, { recursive: true })
      mkdirSync(folder)
    })
    await hintAfter(() => inbox.list())

    await hintAfter(() => put(folder, 'b.xml'))
  })

  it('continue after a rename put another folder in place', async () => {
    const folder = join(temporaryFolder(), 'inbox')
    mkdirSync(folder)
    mkdirSync(`${folder}-new`)
    const inbox = openInbox(folder)
    const { hintAfter } = await watched(inbox)
    await inbox.list()
    renameSync(folder, `${folder}-old`)
    renameSync(`${folder}-new`, folder)

    await hintAfter(() => inbox.list())

    await hintAfter(() => put(folder, 'a.xml'))
  })

  it('continue, with one more opening, after the folder was replaced repeatedly while a watch was being opened', async () => {
    const folder = join(temporaryFolder(), 'inbox')
    mkdirSync(folder)
    const opening = Promise.withResolvers<void>()
    const opened = Promise.withResolvers<void>()
    const watchedInodes: number[] = []
    const inbox = openInbox(folder, {
      openWatch: async (directory) => {
        watchedInodes.push(statSync(directory).ino)
        if (watchedInodes.length === 2) opening.resolve()
        if (watchedInodes.length === 2) await opened.promise
        return { close: async () => {} }
      },
    })
    const { hintAfter } = await watched(inbox)
    const swap = (n: number) => {
      renameSync(folder, `${folder}-${n}`)
      mkdirSync(folder)
      return inbox.list()
    }
    await inbox.list()

    await swap(1)
    await opening.promise
    for (const again of [2, 3, 4]) await swap(again)
    await hintAfter(() => opened.resolve())

    await eventually(() => expect(watchedInodes.at(-1)).toBe(statSync(folder).ino))
    expect(watchedInodes).toHaveLength(3)
  })

  it('begin when a folder that was missing at the start appears', async () => {
    const folder = join(temporaryFolder(), 'inbox')
    const inbox = openInbox(folder)
    const { mode, hintAfter } = await watched(inbox)
    mkdirSync(folder)

    await hintAfter(() => inbox.list())

    expect(mode).toEqual({ mode: 'poll', reason: `the folder ${folder} does not exist (ENOENT)` })
    expect(inbox.watchMode).toEqual({ mode: 'events' })
    await hintAfter(() => put(folder, 'a.xml'))
  })
})

it('the next listing has all files of a burst of more events than the kernel keeps', async () => {
  const folder = temporaryFolder()
  const inbox = openInbox(folder)
  await inbox.watch(() => {})
  // Two events for each file; the kernel keeps 16,384 for us. The event loop is blocked meanwhile.
  const script = `const [, folder] = process.argv
    for (let n = 0; n < 9000; n++) require('fs').writeFileSync(folder + '/' + n + '.xml', '<a/>')`

  execFileSync(process.execPath, ['-e', script, folder])
  const listing = await inbox.list()

  expect(listing.files).toHaveLength(9000)
})

describe('polling', () => {
  it.each([
    [0x6969, 'NFS'],
    [-11317950, 'CIFS'],
    [0xfe534d42, 'SMB2'],
    [0x65735546, 'FUSE'],
    [0x01021997, '9p'],
  ])('is used on a file system of type %i, which is %s', async (type, name) => {
    const openWatch = vi.fn<WatchOpener>()
    const inbox = openInbox(temporaryFolder(), { networkFileSystem: async () => type, openWatch })

    await inbox.watch(() => {})

    expect(inbox.watchMode).toEqual({
      mode: 'poll',
      reason: `the folder is on a network file system (${name}), which does not report what other hosts write`,
    })
    expect(openWatch).not.toHaveBeenCalled()
  })

  it.each([
    ['ENOSPC', 'max_user_watches'],
    ['EMFILE', 'max_user_instances'],
  ])('is used at %s, with the command that raises %s', async (code, limit) => {
    const current = Number(readFileSync(`/proc/sys/fs/inotify/${limit}`, 'utf8'))
    const inbox = openInbox(temporaryFolder(), { openWatch: () => Promise.reject(fails(code)) })

    await inbox.watch(() => {})

    expect(inbox.watchMode).toMatchObject({
      mode: 'poll',
      reason: expect.stringContaining(
        `(${code}): raise it with sysctl fs.inotify.${limit}=${2 * current}`,
      ),
    })
  })

  it('replaces a broken watch and reports this once', async () => {
    let events: WatchEvents | undefined
    const close = vi.fn(async () => {})
    const log = { ...silentLog, warn: vi.fn() }
    const inbox = openInbox(temporaryFolder(), {
      log,
      openWatch: async (_directory, opened) => {
        events = opened
        return { close }
      },
    })
    const { mode } = await watched(inbox)

    events?.failed(fails('ENOSPC'))
    events?.failed(fails('ENOSPC'))

    expect(mode).toEqual({ mode: 'events' })
    expect(inbox.watchMode).toEqual({
      mode: 'poll',
      reason: expect.stringContaining('ENOSPC'),
    })
    expect(log.warn).toHaveBeenCalledOnce()
    expect(close).toHaveBeenCalledOnce()
  })

  it('ends after a limit was raised: the watch is tried again, but not at every scan', async () => {
    const clock = new ManualClock()
    const openWatch = vi.fn<WatchOpener>().mockRejectedValueOnce(fails('ENOSPC'))
    openWatch.mockResolvedValue({ close: async () => {} })
    const inbox = openInbox(temporaryFolder(), { clock, openWatch })
    const { hintAfter } = await watched(inbox)
    for (let scan = 0; scan < 5; scan++) await inbox.list()
    const early = openWatch.mock.calls.length
    clock.mono += 600_000

    await hintAfter(() => inbox.list())

    expect(early).toBe(1)
    expect(inbox.watchMode).toEqual({ mode: 'events' })
  })
})
