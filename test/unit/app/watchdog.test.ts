import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { reportWatchdogRestart } from '../../../src/app/watchdog.ts'
import { Conditions } from '../../../src/domain/conditions.ts'
import { HOUR } from '../../../src/lib/clock.ts'

it('a restart by the watchdog is told for an hour, by the next start alone, which removes the file of the unit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runtime-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const mark = join(folder, 'watchdog-feedsyncd')
  const time = { now: 1000, monotonic: 0 }
  const clock = { now: () => time.now, monotonic: () => time.monotonic }
  const start = () => {
    const conditions = new Conditions(clock)
    const commandLine = (command: string) => `feedsyncd ${command}`
    reportWatchdogRestart({ clock, commandLine, env: { RUNTIME_DIRECTORY: folder } }, conditions)
    return conditions
  }

  const usual = start().current()
  writeFileSync(mark, '')
  const after = start()
  const told = after.current()
  const next = start().current()
  time.monotonic += HOUR - 1
  after.expire()
  const almostOver = after.current()
  time.monotonic += 1
  after.expire()

  expect(almostOver).toEqual(told)
  expect(told).toMatchObject([{ code: 'watchdog-restart', mark: '1000' }])
  expect([usual, next, after.current(), existsSync(mark)]).toEqual([[], [], [], false])
})
