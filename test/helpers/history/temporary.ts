// Temporary folders and sample versions for the tests of the history.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { History, Reason, State, Version, VersionPatch } from '../../../src/history/port.ts'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { FeedsyncError } from '../../../src/lib/errors.ts'
import { memoryFolder } from '../memory-folder.ts'
import { putEmptyHistory } from './empty.ts'

export function temporaryFolder(): string {
  const folder = memoryFolder('history-')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function temporaryHistory(options: { busyTimeoutMs?: number } = {}): {
  history: History
  file: string
} {
  const file = join(temporaryFolder(), 'state', 'history.db')
  putEmptyHistory(file)
  const history = openHistory({ file, ...options })
  onTestFinished(() => history[Symbol.dispose]())
  return { history, file }
}

/** versionIn adds a version and brings it to this state by allowed steps of one ms each. */
export function versionIn(
  history: History,
  state: State,
  {
    feed = 'acme',
    path = `${feed}.xml`,
    at = 1000,
    patch = {},
    reason,
  }: { feed?: string; path?: string; at?: number; patch?: VersionPatch; reason?: Reason } = {},
): Version {
  const steps: Record<State, State[]> = {
    settling: [],
    checking: ['checking'],
    incomplete: ['checking', 'incomplete'],
    rejected: ['checking', 'rejected'],
    held: ['checking', 'held'],
    queued: ['checking', 'queued'],
    uploading: ['checking', 'queued', 'uploading'],
    uploaded: ['checking', 'queued', 'uploading', 'uploaded'],
    superseded: ['checking', 'queued', 'superseded'],
    failed: ['checking', 'queued', 'uploading', 'failed'],
    discarded: ['checking', 'held', 'discarded'],
    gone: ['gone'],
  }
  const first = history.add({
    feed,
    path,
    account: null,
    state: 'settling',
    reason: null,
    at,
    patch: { date: patch.date ?? null },
  })
  steps[state].forEach((to, index) => {
    history.move(first.id, to, { at: at + index + 1 })
  })
  return history.update(first.id, patch, reason)
}

export function because(reason: string, hint: string | null = null, code = 'test'): Reason {
  return { code, reason, hint }
}

export function thrownBy(work: () => unknown): FeedsyncError {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(FeedsyncError)
    return error as FeedsyncError
  }
  throw new Error('nothing was thrown')
}
