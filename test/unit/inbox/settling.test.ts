import {
  appendFileSync,
  closeSync,
  openSync,
  renameSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Inbox } from '../../../src/inbox/folder.ts'
import type { Sighting, Skipped } from '../../../src/inbox/port.ts'
import { Settler } from '../../../src/inbox/settling.ts'
import {
  backdate,
  ManualClock,
  openInbox,
  put,
  temporaryFolder,
} from '../../helpers/inbox/harness.ts'

const QUIET = 1000

let folder: string
let inbox: Inbox
let clock: ManualClock
let settler: Settler

beforeEach(() => {
  folder = temporaryFolder()
  inbox = openInbox(folder)
  clock = new ManualClock()
  settler = new Settler(QUIET)
})

async function scan(): Promise<void> {
  settler.observeAll((await inbox.list()).files, clock.monotonic())
}

const isFile = (seen: Sighting | Skipped | null | undefined): seen is Sighting =>
  seen != null && 'identity' in seen

/** ready lets time pass, looks at the due paths, and returns the paths of the files that are ready. */
async function ready(afterMs: number): Promise<string[]> {
  clock.mono += afterMs
  const looks = await inbox.look(settler.due(clock.monotonic()))
  return [...looks].flatMap(([path, seen]) =>
    isFile(seen) && settler.takeIfQuiet(seen, clock.monotonic()) ? [path] : [],
  )
}

describe('settling', () => {
  it('ends after one quiet period without a change, and not earlier', async () => {
    put(folder, 'a.xml')
    await scan()

    const early = await ready(QUIET - 1)
    const inTime = await ready(1)

    expect(early).toEqual([])
    expect(inTime).toEqual(['a.xml'])
    expect(settler.nextAt()).toBeNull()
  })

  it('begins when the daemon first sees the file, even if the file is old at start-up', async () => {
    backdate(put(folder, 'old.xml'))
    await scan()

    const atOnce = await ready(0)

    expect(atOnce).toEqual([])
    expect(settler.nextAt()).toBe(clock.monotonic() + QUIET)
  })

  it('does not end while a slow writer resets the date after each chunk, and ends after the last chunk', async () => {
    const file = put(folder, 'slow.xml', '<jobs>')
    backdate(file)
    await scan()

    const taken: string[] = []
    for (let chunk = 0; chunk < 5; chunk++) {
      appendFileSync(file, '<job/>')
      backdate(file)
      taken.push(...(await ready(QUIET)))
    }

    expect(taken).toEqual([])
    expect(await ready(QUIET)).toEqual(['slow.xml'])
  })

  it('does not end if other bytes of the same size come with the same date', async () => {
    const file = put(folder, 'a.xml', '<a/>')
    const { atime, mtime } = statSync(file)
    await scan()
    const handle = openSync(file, 'r+')
    writeSync(handle, '<b/>')
    closeSync(handle)
    utimesSync(file, atime, mtime)

    const taken = await ready(QUIET)

    expect(taken).toEqual([])
  })

  it('has a pending file until it was quiet, none after it was put back, and one again after it has changed', async () => {
    const file = put(folder, 'a.xml')
    await scan()
    const whileNew = settler.hasPending
    clock.mono += QUIET
    const seen = (await inbox.look(['a.xml'])).get('a.xml')
    const notTaken = settler.hasPending
    if (!isFile(seen) || !settler.takeIfQuiet(seen, clock.monotonic())) expect.fail()
    settler.putBack(seen, clock.monotonic())
    const putBack = settler.hasPending
    appendFileSync(file, ' ')
    await ready(QUIET)

    expect([whileNew, notTaken, putBack, settler.hasPending]).toEqual([true, true, false, true])
  })

  it('begins again if a rename replaces the file', async () => {
    put(folder, 'a.xml', '<a/>')
    await scan()
    renameSync(put(folder, 'b.tmp', '<b/>'), join(folder, 'a.xml'))

    const taken = await ready(QUIET)

    expect(taken).toEqual([])
    expect(settler.nextAt()).toBe(clock.monotonic() + QUIET)
  })

  it('waits for a writer that closes and reopens the file within the quiet period', async () => {
    const file = put(folder, 'a.xml', '<jobs>')
    await scan()

    const taken: string[] = []
    for (let visit = 0; visit < 10; visit++) {
      appendFileSync(file, '<job/>')
      taken.push(...(await ready(QUIET * 0.9)))
    }

    expect(taken).toEqual([])
  })

  it('runs for all files in parallel: a growing file delays only itself', async () => {
    for (let n = 0; n < 200; n++) put(folder, `stable-${n}.xml`)
    const growing = put(folder, 'growing.xml')
    await scan()
    appendFileSync(growing, ' ')

    const taken = await ready(QUIET)

    expect(taken).toHaveLength(200)
    expect(taken).not.toContain('growing.xml')
    expect(settler.hasPending).toBe(true)
  })

  it('does not depend on the wall clock', async () => {
    put(folder, 'a.xml')
    await scan()
    clock.wall += 86_400_000

    const dayForward = await ready(QUIET - 1)
    clock.wall -= 2 * 86_400_000
    const dayBack = await ready(1)

    expect(dayForward).toEqual([])
    expect(dayBack).toEqual(['a.xml'])
  })

  it('ends only with a look at the file: a listing, which takes a while, ends no quiet period', async () => {
    put(folder, 'a.xml')
    await scan()
    clock.mono += QUIET

    await scan()

    expect(settler.hasPending).toBe(true)
    expect(settler.due(clock.monotonic())).toEqual(['a.xml'])
  })

  it('continues through listings that find the file unchanged', async () => {
    put(folder, 'a.xml')
    await scan()
    clock.mono += QUIET / 2
    await scan()

    const taken = await ready(QUIET / 2)

    expect(taken).toEqual(['a.xml'])
  })

  it('forgets a file that left, and begins again when it is back', async () => {
    put(folder, 'a.xml')
    put(folder, 'b.xml')
    await scan()
    renameSync(join(folder, 'a.xml'), join(folder, 'a.away'))
    await scan()
    renameSync(join(folder, 'a.away'), join(folder, 'a.xml'))
    clock.mono += QUIET / 2
    await scan()

    const first = await ready(QUIET / 2)
    const second = await ready(QUIET / 2)

    expect(first).toEqual(['b.xml'])
    expect(second).toEqual(['a.xml'])
  })

  it('names the next time to look: the earliest end of a quiet period, or none without files', async () => {
    const before = settler.nextAt()
    const start = clock.monotonic()
    settler.takeIfQuiet({ path: 'a.xml', identity: identity('1') }, start)
    settler.takeIfQuiet({ path: 'b.xml', identity: identity('2') }, start + 10)
    const both = settler.nextAt()
    settler.takeIfQuiet({ path: 'a.xml', identity: identity('3') }, start + 20)
    const restarted = settler.nextAt()
    settler.drop('b.xml')
    const dropped = settler.nextAt()

    expect(before).toBeNull()
    expect(both).toBe(start + QUIET)
    expect(restarted).toBe(start + 10 + QUIET)
    expect(dropped).toBe(start + 20 + QUIET)
  })
})

function identity(ino: string) {
  return { dev: '1', ino, size: 1, mtimeNs: '1', ctimeNs: '1' }
}
