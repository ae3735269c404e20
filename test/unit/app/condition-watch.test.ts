// Conditions while the daemon's loop hangs. No test of this file runs the loop.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createConditions, watchConditions } from '../../../src/app/condition-watch.ts'
import { Conditions } from '../../../src/domain/conditions.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { eventually } from '../../helpers/eventually.ts'
import { mountedDisk } from '../../helpers/small-disk.ts'

/** A clock on which the watch looks every few ms. */
const clock: Clock = { ...systemClock, after: (ms, run) => systemClock.after(ms / 100, run) }
const SILENT = { sendDue: () => {} }
const WORDS = { message: 'listing /srv/ats has not ended', hint: 'check the mount' }

it('a condition reaches the terminal and the alerts without the loop of the daemon', async () => {
  const root = mkdtempSync(join(tmpdir(), 'conditions-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const told: unknown[] = []
  const conditions = createConditions({
    ...{ clock, log: silentLog },
    notifyOperator: (...words) => told.push(words),
  })
  const alerts = { sendDue: vi.fn() }
  const { signal } = new AbortController()
  const parts = { alerts, clock, conditions, stateDirectory: root, hungReads: () => [] }
  using _ = watchConditions(parts, signal)

  conditions.set('scan-stuck', WORDS)

  expect(told).toEqual([[WORDS.message, WORDS.hint]])
  await eventually(() => expect(alerts.sendDue).toHaveBeenCalledWith(signal))
})

it('a condition ends if it is not seen again within its lifetime', async () => {
  const root = mkdtempSync(join(tmpdir(), 'conditions-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const conditions = createConditions({ clock, log: silentLog, notifyOperator: () => {} })
  const parts = { alerts: SILENT, clock, conditions, stateDirectory: root, hungReads: () => [] }
  using _ = watchConditions(parts, new AbortController().signal)

  conditions.set('state-failing', WORDS, 1)
  expect(conditions.has('state-failing')).toBe(true)

  await eventually(() => expect(conditions.current()).toEqual([]))
})

it('a disk that became read-only is reported even if nothing is written to it', async (test) => {
  const root = mkdtempSync(join(tmpdir(), 'conditions-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  using disk = mountedDisk(join(root, 'state'), test)
  const conditions = new Conditions(clock)
  const parts = {
    alerts: SILENT,
    clock,
    conditions,
    stateDirectory: disk.folder,
    hungReads: () => [],
  }
  using _ = watchConditions(parts, new AbortController().signal)

  disk.make('read-only')

  await eventually(() => expect(conditions.has('state-read-only')).toBe(true))
  disk.make('writable')
})

it('the condition of a full disk ends at the first look that finds room', async (test) => {
  const root = mkdtempSync(join(tmpdir(), 'conditions-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  using disk = mountedDisk(join(root, 'state'), test)
  // On this clock no condition ends because its lifetime is over.
  const still: Clock = { ...clock, monotonic: () => 0 }
  const conditions = new Conditions(still)
  const parts = {
    alerts: SILENT,
    clock: still,
    conditions,
    stateDirectory: disk.folder,
    hungReads: () => [],
  }
  disk.fill({ pid: 0 })
  using _ = watchConditions(parts, new AbortController().signal)
  await eventually(() => expect(conditions.has('state-full')).toBe(true))

  disk.free({ pid: 0 })

  await eventually(() => expect(conditions.current()).toEqual([]))
})
