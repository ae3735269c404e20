import { spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  daemonFileWriter,
  lastStateDirectory,
  readDaemonFile,
} from '../../../src/ops/daemon-file.ts'
import { conditionOf } from '../../helpers/condition.ts'

function world() {
  const root = mkdtempSync(join(tmpdir(), 'daemon-file-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const runtime = join(root, 'run')
  const stateDirectory = join(root, 'state')
  mkdirSync(runtime)
  mkdirSync(stateDirectory)
  const env = { RUNTIME_DIRECTORY: runtime }
  const about = { stateDirectory, configFile: join(root, 'feedsyncd.yaml') }
  const file = () => join(runtime, readdirSync(runtime)[0] ?? '')
  return { ...about, about, env, root, runtime, file }
}

describe('what a daemon says of itself outside of its state', () => {
  it('is read back while the process lives, also where the state directory is gone', () => {
    const { about, env, stateDirectory } = world()
    daemonFileWriter(about, { env, pid: process.pid })([conditionOf('the disk is full')], 7)
    rmSync(stateDirectory, { recursive: true })

    expect(readDaemonFile(stateDirectory, env)).toMatchObject({
      ...{ pid: process.pid, at: 7 },
      conditions: [{ code: 'state-full', message: 'the disk is full' }],
    })
  })

  it('of a process that ended says nothing but where its state was', async () => {
    const { about, configFile, env, stateDirectory } = world()
    const child = spawn('/bin/cat')
    daemonFileWriter(about, { env, pid: child.pid ?? 0 })([conditionOf('x')], 1)
    const alive = readDaemonFile(stateDirectory, env)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))

    expect(alive).not.toBeNull()
    expect(readDaemonFile(stateDirectory, env)).toBeNull()
    expect(lastStateDirectory(configFile, env)).toBe(stateDirectory)
  })

  it('of another process with the same number is not believed', () => {
    const { about, env, file, stateDirectory } = world()
    daemonFileWriter(about, { env, pid: process.pid })([conditionOf('x')], 1)
    const said = JSON.parse(readFileSync(file(), 'utf8'))
    writeFileSync(file(), JSON.stringify({ ...said, startTicks: '1' }))

    expect(readDaemonFile(stateDirectory, env)).toBeNull()
  })

  it('is not read through a link, nor where it makes no sense', () => {
    const { about, env, file, root, stateDirectory } = world()
    daemonFileWriter(about, { env, pid: process.pid })([conditionOf('x')], 1)
    const path = file()
    const elsewhere = join(root, 'elsewhere.json')
    writeFileSync(elsewhere, readFileSync(path))
    rmSync(path)
    symlinkSync(elsewhere, path)
    const linked = readDaemonFile(stateDirectory, env)
    rmSync(path)
    writeFileSync(path, 'null')

    expect(linked).toBeNull()
    expect(readDaemonFile(stateDirectory, env)).toBeNull()
  })

  it('goes to the next place where the first cannot be written', () => {
    const { about, root, stateDirectory } = world()
    const second = join(root, 'second')
    const both = { RUNTIME_DIRECTORY: join(root, 'state', 'no-folder'), XDG_RUNTIME_DIR: second }
    writeFileSync(both.RUNTIME_DIRECTORY, '')
    daemonFileWriter(about, { env: both, pid: process.pid })([], 1)

    expect(readDaemonFile(stateDirectory, both)).toMatchObject({ conditions: [] })
    expect(readdirSync(join(second, 'feedsyncd'))).toHaveLength(1)
  })
})
