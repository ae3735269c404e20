import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  contentStampOf,
  isCurrentOf,
  readCampaignsFile,
  stableCampaignsFile,
} from '../../../src/campaigns/campaigns-file.ts'
import type { Config } from '../../../src/config/config.ts'
import { SECOND, systemClock } from '../../../src/lib/clock.ts'
import { stampOf } from '../../../src/lib/files.ts'
import { forever } from '../../helpers/campaigns/account.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { memoryFolder } from '../../helpers/memory-folder.ts'

function folder(explicit = true) {
  const directory = memoryFolder('feedsyncd-file-')
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'campaigns.yaml')
  return { file, config: { campaigns: { file, explicit } } as Config }
}

/** clockWith returns a clock whose waits take no time. It calls `meanwhile` at each wait. */
function clockWith(meanwhile: (now: number, waits: number) => void) {
  let [now, waits] = [Date.now(), 0]
  const sleep = async (ms: number) => {
    now += ms
    meanwhile(now, ++waits)
  }
  return { ...systemClock, now: () => now, monotonic: () => now, sleep }
}

describe('the campaigns file on disk', () => {
  it.each<[string, (file: string) => void, string]>([
    ['a FIFO', (file) => execFileSync('mkfifo', [file]), 'not a regular file'],
    [
      '150 MB',
      (file) => {
        writeFileSync(file, '')
        truncateSync(file, 150_000_000)
      },
      'larger than 8 MiB',
    ],
    ['not UTF-8', (file) => writeFileSync(file, Buffer.from([0xff, 0xfe])), 'is not UTF-8'],
    [
      'text with a NUL byte',
      (file) => writeFileSync(file, `${fileOf(entry('A'))}\0\0`),
      'a NUL byte',
    ],
    ['a link to a device', (file) => symlinkSync('/dev/zero', file), 'not a regular file'],
    ['missing', () => {}, 'does not exist'],
  ])('is unusable, with the reason, if it is %s', (_, make, why) => {
    const { file, config } = folder()
    make(file)

    expect(readCampaignsFile(config)).toMatchObject({
      ...{ kind: 'unusable', lines: [expect.stringContaining(why)] },
    })
  })

  it('has its mistakes reported with file, line and column', () => {
    const { file, config } = folder()
    writeFileSync(file, 'version: 2\n')

    expect(readCampaignsFile(config)).toMatchObject({
      lines: [`${file}:1:10 version: expected 1 (got "2")`],
    })
  })

  it('may be missing if none is configured', () => {
    expect(readCampaignsFile(folder(false).config).kind).toBe('off')
  })

  it('is read only after its writer has finished', async () => {
    const { file, config } = folder()
    writeFileSync(file, fileOf(entry('A')))
    const clock = clockWith((now, waits) => {
      if (waits > 1) return
      writeFileSync(file, fileOf(entry('A'), entry('B')))
      utimesSync(file, now / SECOND, now / SECOND)
    })

    expect(await stableCampaignsFile(config, clock, forever)).toMatchObject({
      ...{ kind: 'read', entries: [{ key: 'A' }, { key: 'B' }] },
    })
  })

  it('is read although a job touches it again and again, if its text stays the same', async () => {
    const { file, config } = folder()
    writeFileSync(file, fileOf(entry('A')))
    const clock = clockWith((now) => utimesSync(file, now / SECOND, now / SECOND))

    expect(await stableCampaignsFile(config, clock, forever)).toMatchObject({ kind: 'read' })
  })

  it('is current until its text changes', () => {
    const { file, config } = folder()
    writeFileSync(file, fileOf(entry('A')))
    const read = readCampaignsFile(config)
    if (read.kind !== 'read') throw new Error('the file cannot be read')
    const isCurrent = isCurrentOf(read)

    expect(isCurrent()).toBe(true)
    writeFileSync(file, fileOf(entry('B')))
    expect(isCurrent()).toBe(false)
  })

  it('has no content stamp if it is missing, keeps it if only its times change, and changes it with its text', () => {
    const { file } = folder()
    const stamp = contentStampOf(file)
    const none = stamp()
    writeFileSync(file, fileOf(entry('A')))
    const [first, before] = [stamp(), stampOf(file)]
    utimesSync(file, 1, 1)
    const [again, after] = [stamp(), stampOf(file)]
    writeFileSync(file, fileOf(entry('B')))

    expect(none).toBeNull()
    expect(after?.stamp).not.toBe(before?.stamp)
    expect(again).toBe(first)
    expect(stamp()).not.toBe(first)
  })
})
