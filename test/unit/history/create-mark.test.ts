import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openCampaignStore } from '../../../src/history/campaign-store.ts'

function stateDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'feedsyncd-mark-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'state')
}

const storeIn = (directory: string) => openCampaignStore({ file: join(directory, 'feedsyncd.db') })

function create(directory: string): void {
  using store = storeIn(directory)
  const write = { at: 1, key: 'K', campaignId: null, action: 'create', body: null } as const
  store.begin({ ...write, before: {}, spend: 'up', why: 'a test', by: 'a test' })
}

function unknownCreatesUntil(directory: string): number | null {
  using store = storeIn(directory)
  return store.unknownCreatesUntil()
}

describe('a database knows all that it made', () => {
  it('where nothing was ever made', () => {
    expect(unknownCreatesUntil(stateDirectory())).toBeNull()
  })

  it('after creates, and after it was opened again', () => {
    const state = stateDirectory()
    create(state)
    create(state)

    expect(unknownCreatesUntil(state)).toBeNull()
  })
})

describe('a database may have forgotten what it made', () => {
  it('when it was restored from a copy that was made before the last create', () => {
    const state = stateDirectory()
    create(state)
    cpSync(state, `${state}-copy`, { recursive: true, preserveTimestamps: true })
    create(state)
    rmSync(join(state, 'feedsyncd.db-wal'), { force: true })
    cpSync(join(`${state}-copy`, 'feedsyncd.db'), join(state, 'feedsyncd.db'))

    expect(Math.abs((unknownCreatesUntil(state) ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  it('when its whole directory was restored from a copy', () => {
    const state = stateDirectory()
    create(state)
    cpSync(state, `${state}-copy`, { recursive: true, preserveTimestamps: true })
    create(state)
    rmSync(state, { recursive: true })
    cpSync(`${state}-copy`, state, { recursive: true, preserveTimestamps: true })

    expect(unknownCreatesUntil(state)).not.toBeNull()
  })

  it('when it came here without the file beside it, from the first look on', () => {
    const state = stateDirectory()
    create(state)
    rmSync(join(state, 'feedsyncd.db.last-create'))

    const first = unknownCreatesUntil(state)

    expect(Math.abs((first ?? 0) - Date.now())).toBeLessThan(60_000)
    expect(unknownCreatesUntil(state)).toBe(first)
  })

  it('when it is a new one in the place of the one that made them', () => {
    const state = stateDirectory()
    create(state)
    rmSync(join(state, 'feedsyncd.db'))

    expect(unknownCreatesUntil(state)).not.toBeNull()
  })
})
