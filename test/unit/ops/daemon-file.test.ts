import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DaemonFile, readDaemonFile } from '../../../src/ops/daemon-file.ts'
import { conditionOf } from '../../helpers/condition.ts'

function world() {
  const root = mkdtempSync(join(tmpdir(), 'daemon-file-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const runtime = join(root, 'run')
  const stateDirectory = join(root, 'state')
  mkdirSync(runtime)
  mkdirSync(stateDirectory)
  const start = (env: NodeJS.ProcessEnv, pid = process.pid) =>
    new DaemonFile({ env, writesFile: true, pid, startedAt: 7, stateDirectory })
  const link = join(stateDirectory, 'daemon.json')
  return { link, root, runtime, start, stateDirectory, unit: { RUNTIME_DIRECTORY: runtime } }
}

describe('the file of the daemon', () => {
  it('is in the runtime directory of the unit, and is read through a link in the state directory', () => {
    const { link, runtime, start, stateDirectory, unit } = world()

    start(unit).update({ lastScanAt: 8 })

    expect(readlinkSync(link)).toBe(join(runtime, readdirSync(runtime)[0] ?? ''))
    expect(readDaemonFile(stateDirectory, {})).toMatchObject({
      ...{ alive: true, pid: process.pid, startedAt: 7, lastScanAt: 8 },
    })
  })

  it('is in the state directory without a unit, or when the runtime directory is missing', () => {
    const { link, root, start, stateDirectory } = world()

    for (const env of [{}, { RUNTIME_DIRECTORY: join(root, 'no-folder') }]) {
      rmSync(link, { force: true })
      start(env)

      expect(readDaemonFile(stateDirectory, env)).toMatchObject({ startedAt: 7 })
      expect(() => readlinkSync(link)).toThrow('EINVAL')
    }
  })

  it('can still be written and read under the unit when the state directory is gone', () => {
    const { start, stateDirectory, unit } = world()
    const file = start(unit)
    rmSync(stateDirectory, { recursive: true })
    file.update({ conditions: [conditionOf('the disk is full')] })

    expect(readDaemonFile(stateDirectory, unit)?.conditions).toMatchObject([
      { code: 'state-full', message: 'the disk is full' },
    ])
  })

  it('is not alive after its process ended: it keeps the last listing, and no condition but a lost database', async () => {
    const { start, stateDirectory, unit } = world()
    const child = spawn('/bin/cat')
    const lost = conditionOf('it was deleted', { code: 'database-lost' })
    start(unit, child.pid).update({ lastScanAt: 8, conditions: [conditionOf('x'), lost] })
    const alive = readDaemonFile(stateDirectory, unit)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))

    expect(alive).toMatchObject({ alive: true, conditions: [{ message: 'x' }, lost] })
    expect(readDaemonFile(stateDirectory, unit)).toMatchObject({
      ...{ alive: false, lastScanAt: 8, conditions: [lost] },
    })
  })

  it('does not take another process with the same pid for the daemon', () => {
    const { link, start, stateDirectory } = world()
    start({})
    const said = JSON.parse(readFileSync(link, 'utf8'))
    writeFileSync(link, JSON.stringify({ ...said, startTicks: '1' }))

    expect(readDaemonFile(stateDirectory, {})?.alive).toBe(false)
  })

  it('is ignored in a copy of the state directory, which has a link to it, and when its content makes no sense', () => {
    const { link, root, runtime, start, stateDirectory, unit } = world()
    start(unit)
    const copy = join(root, 'copy')
    cpSync(stateDirectory, copy, { recursive: true })
    const ofCopy = readDaemonFile(copy, unit)
    rmSync(link)
    writeFileSync(link, 'null')

    expect(readlinkSync(join(copy, 'daemon.json'))).toContain(runtime)
    expect(ofCopy).toBeNull()
    expect(readDaemonFile(stateDirectory, {})).toBeNull()
  })
})
