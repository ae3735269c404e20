import { chmodSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { Conditions } from '../../../src/domain/conditions.ts'
import { MINUTE } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import {
  ManualClock,
  openInbox,
  pathsOf,
  put,
  temporaryFolder,
  unprivileged,
} from '../../helpers/inbox/harness.ts'

function guarded(): string {
  const folder = join(temporaryFolder(), 'inbox')
  put(folder, 'a.xml')
  return folder
}

describe('the folder itself', () => {
  it('is named as missing, with a hint, and its files are unknown, not gone', async () => {
    const folder = guarded()
    const inbox = openInbox(folder)
    await inbox.list()
    rmSync(folder, { recursive: true })

    const listing = await inbox.list()

    expect(listing).toEqual({
      folder: {
        kind: 'unavailable',
        code: 'ENOENT',
        reason: `the folder ${folder} does not exist (ENOENT)`,
        hint: 'create it, mount it, or correct inbox.directory',
      },
      files: [],
      skipped: [],
      ignored: [],
      temporary: [],
      unknown: [''],
    })
  })

  it.each([0o000, 0o444])(
    'is unavailable, and its files are unknown, while its mode is %o',
    async (mode) => {
      const folder = guarded()
      chmodSync(folder, mode)
      const inbox = openInbox(folder)

      const closed = await unprivileged(() => inbox.list())
      chmodSync(folder, 0o755)
      const open = await unprivileged(() => inbox.list())

      expect(closed.folder).toMatchObject({ kind: 'unavailable', code: 'EACCES' })
      expect(closed.unknown).toEqual([''])
      expect(open.folder).toEqual({ kind: 'ready' })
      expect(pathsOf(open)).toEqual(['a.xml'])
    },
  )

  it('may be a link', async () => {
    const folder = guarded()
    const link = `${folder}-link`
    symlinkSync(folder, link)

    const listing = await openInbox(link).list()

    expect(pathsOf(listing)).toEqual(['a.xml'])
  })

  it('shares one listing between simultaneous callers, not with a later one', async () => {
    const inbox = openInbox(guarded())

    const [first, second] = await Promise.all([inbox.list(), inbox.list()])
    const later = await inbox.list()

    expect(second).toBe(first)
    expect(later).not.toBe(first)
  })
})

describe('a listing thread that ended', () => {
  /** openAfterCrash returns an inbox whose listing thread ended after it had listed `a.xml` and `gone.xml`. */
  async function openAfterCrash(folder: string) {
    put(folder, 'gone.xml')
    const inbox = openInbox(folder)
    await inbox.list()
    await expect(inbox.look([null as never])).rejects.toThrow('the listing thread ended')
    return inbox
  }

  it('leaves no file that is gone in the listing if a look starts the next thread', async () => {
    const folder = guarded()
    const inbox = await openAfterCrash(folder)
    rmSync(join(folder, 'gone.xml'))

    await inbox.look(['a.xml'])
    const listing = await inbox.list()

    expect(pathsOf(listing)).toEqual(['a.xml'])
  })

  it('leaves no file that is gone in the listing if the next thread first finds no folder', async () => {
    const folder = guarded()
    const inbox = await openAfterCrash(folder)
    rmSync(join(folder, 'gone.xml'))
    renameSync(folder, `${folder}-away`)

    const away = await inbox.list()
    renameSync(`${folder}-away`, folder)
    const back = await inbox.list()

    expect(away.folder.kind).toBe('unavailable')
    expect(pathsOf(back)).toEqual(['a.xml'])
  })
})

describe('a mount that comes and goes', () => {
  /** mountable returns a folder that `show` makes a link to `host` or to `mounted`, which is another file system. */
  function mountable() {
    const link = join(temporaryFolder(), 'inbox')
    const [host, mounted] = [temporaryFolder(), temporaryFolder('/dev/shm')]
    expect(statSync(host).dev).not.toBe(statSync(mounted).dev)
    const show = (directory: string) => {
      rmSync(link, { force: true })
      symlinkSync(directory, link)
    }
    return { link, host, mounted, show }
  }

  it('is unavailable, not empty, in each listing until it is back, and is not reported as replaced', async () => {
    const { link, host, mounted, show } = mountable()
    put(mounted, 'a.xml')
    const log = { ...silentLog, warn: vi.fn() }
    const inbox = openInbox(link, { log })
    show(mounted)
    await inbox.list()

    show(host)
    const unmounted = await inbox.list()
    const still = await inbox.list()
    show(mounted)
    const back = await inbox.list()

    expect(unmounted.folder).toEqual({
      kind: 'unavailable',
      code: 'EXDEV',
      reason: `the folder ${link} is empty and on another file system than before (EXDEV)`,
      hint: 'mount its file system again; if the change is intended, drop a file into the folder or restart',
    })
    expect([unmounted.unknown, still.folder.kind]).toEqual([[''], 'unavailable'])
    expect([back.folder, pathsOf(back)]).toEqual([{ kind: 'ready' }, ['a.xml']])
    expect(log.warn).not.toHaveBeenCalled()
  })

  it('is accepted if it brings files, and is reported as another folder', async () => {
    const { link, host, mounted, show } = mountable()
    put(mounted, 'a.xml')
    const log = { ...silentLog, warn: vi.fn() }
    const inbox = openInbox(link, { log })
    show(host)
    await inbox.list()
    show(mounted)

    const listing = await inbox.list()

    expect([listing.folder, pathsOf(listing)]).toEqual([{ kind: 'ready' }, ['a.xml']])
    expect(log.warn).toHaveBeenCalledWith(
      { event: 'folder.replaced', directory: link },
      expect.anything(),
    )
  })

  it('does not keep a folder from becoming empty', async () => {
    const folder = guarded()
    const inbox = openInbox(folder)
    await inbox.list()
    rmSync(join(folder, 'a.xml'))

    const emptied = await inbox.list()

    expect([emptied.folder, emptied.files]).toEqual([{ kind: 'ready' }, []])
  })
})

/** A clock whose timers end when the test says so. */
class Timers extends ManualClock {
  readonly #timers = new Set<() => void>()

  override after(_ms: number, run: () => void) {
    this.#timers.add(run)
    return { [Symbol.dispose]: () => void this.#timers.delete(run) }
  }

  /** Ends all timers that are not cancelled. */
  ring(): void {
    for (const run of this.#timers) run()
  }
}

describe('a listing that does not end', () => {
  it.each(['list', 'look'] as const)('is a condition until it ends (%s)', async (call) => {
    const clock = new Timers()
    const conditions = new Conditions(clock)
    const directory = temporaryFolder()
    const inbox = openInbox(directory, { clock, conditions })

    const looked = call === 'list' ? inbox.list() : inbox.look(['a.xml'])
    clock.wall += 2 * MINUTE
    clock.ring()
    const meanwhile = conditions.current()
    await looked
    clock.ring()

    expect(meanwhile).toMatchObject([
      {
        code: 'scan-stuck',
        message: expect.stringContaining(`${directory} has not ended since 2027`),
      },
    ])
    expect(conditions.current()).toEqual([])
  })
})
