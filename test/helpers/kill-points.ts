// Preloaded into a child (`--import`, in each of its threads): names every durable step of the child below one folder,
// and ends the process with SIGKILL at one of them. It wraps functions of Node and SQLite, so the product needs no code
// for it.
//
// FEEDSYNCD_KILL_ROOT: the folder. FEEDSYNCD_KILL_LOG: the file that gets one line for each point. FEEDSYNCD_KILL_AT:
// the point of the kill, or nothing.

import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { relative } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const { FEEDSYNCD_KILL_ROOT: ROOT = '', FEEDSYNCD_KILL_AT, FEEDSYNCD_KILL_LOG } = process.env
const { appendFileSync, writeSync, writeFileSync } = fs
const counts = new Map<string, number>()

type Works = (...parameters: never[]) => unknown

/** step does the work of a step. FEEDSYNCD_KILL_AT can end the process before it, halfway (`half`), or after it. */
function step(label: string, work: () => unknown, half?: () => void): unknown {
  const n = (counts.get(label) ?? 0) + 1
  counts.set(label, n)
  const name = n === 1 ? label : `${label} (${n})`
  reach(`before ${name}`)
  if (half !== undefined) reach(`half of ${name}`, half)
  const result = work()
  const done = () => reach(`after ${name}`)
  if (result instanceof Promise) void result.then(done, () => {})
  else done()
  return result
}

/** reach logs the point. If the process is to end here, reach calls `first` and kills the process. */
function reach(point: string, first = () => {}): void {
  if (FEEDSYNCD_KILL_LOG) appendFileSync(FEEDSYNCD_KILL_LOG, `${point}\n`)
  if (point !== FEEDSYNCD_KILL_AT) return
  first()
  process.kill(process.pid, 'SIGKILL')
  // Block this thread until the signal arrives.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** shape returns a path without the parts that differ between runs; null for a path that is not ours. */
function shape(path: unknown): string | null {
  const inside = relative(ROOT, followed(String(path))) || '.'
  // The daemon file matters only while a daemon runs. The mark of the state has its own tests (state-mark).
  if (/^(\.\.|runtime|state\/(daemon\.json|feedsyncd\.db\.mark))/.test(inside)) return null
  return (
    inside
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '*')
      // `3-1000-56fdeea37f948fc4.xml` is the copy of version 3.
      .replace(/(\d+)-\d+-[0-9a-f]{16}\.xml/, '$1.xml')
      .replace(/[0-9a-f]{12}/, '*')
      .replace(/\d{8}T\d{9}Z/, '<time>')
  )
}

/** followed replaces the descriptor of an open directory by the path of the directory. */
function followed(path: string): string {
  return path.replace(/^\/proc\/self\/fd\/\d+/, (link) => fs.readlinkSync(link))
}

/** wrap makes a function a step if `named` returns a name for its parameters. */
function wrap<T extends object>(
  owner: T,
  method: keyof T & string,
  named: (parameters: unknown[], self: unknown) => string | null,
  half?: (parameters: unknown[]) => void,
): void {
  const original = owner[method] as Works
  const wrapped = function (this: unknown, ...parameters: never[]): unknown {
    const label = named(parameters, this)
    const work = () => original.apply(this, parameters)
    return label === null ? work() : step(label, work, half && (() => half(parameters)))
  }
  owner[method] = wrapped as T[keyof T & string]
}

const onPath = (verb: string) => (parameters: unknown[]) => {
  const path = shape(parameters[0])
  return path === null ? null : `${verb} ${path}`
}
const toPath = (verb: string) => (parameters: unknown[]) => {
  const from = shape(parameters[0])
  return from === null ? null : `${verb} ${from} to ${shape(parameters[1])}`
}

const opened = new Map<number, string>()
const { openSync, closeSync } = fs
fs.openSync = (path, flags, mode) => {
  const name = shape(path)
  const open = () => openSync(path, flags, mode)
  const creates = typeof flags === 'string' && flags.startsWith('w')
  const fd = (name !== null && creates ? step(`create ${name}`, open) : open()) as number
  if (name !== null && name !== 'state') opened.set(fd, name)
  return fd
}
fs.closeSync = (fd) => {
  opened.delete(fd)
  closeSync(fd)
}
const onDescriptor = (verb: string) => (parameters: unknown[]) => {
  const path = opened.get(parameters[0] as number)
  return path === undefined ? null : `${verb} ${path}`
}
wrap(fs, 'writeSync', onDescriptor('write'), ([fd, bytes]) => {
  writeSync(fd as number, (bytes as Buffer).subarray(0, (bytes as Buffer).length / 2))
})
wrap(fs, 'fsyncSync', onDescriptor('fsync'))
const { fsync } = fs
fs.fsync = ((fd: number, done: fs.NoParamCallback) => {
  const name = opened.get(fd)
  const sync = () =>
    new Promise<void>((resolve, reject) =>
      fsync(fd, (error) => (error ? reject(error) : resolve())),
    )
  const synced = name === undefined ? sync() : (step(`fsync ${name}`, sync) as Promise<void>)
  synced.then(() => done(null), done)
}) as typeof fs.fsync
wrap(fs, 'mkdirSync', onPath('make directory'))
wrap(fs, 'rmSync', onPath('remove'))
wrap(fs, 'renameSync', toPath('rename'))

for (const verb of ['rm', 'unlink'] as const) wrap(fs.promises, verb, onPath('remove'))
for (const verb of ['rename', 'link', 'copyFile'] as const) wrap(fs.promises, verb, toPath(verb))
wrap(fs.promises, 'writeFile', onPath('write'), ([path, data]) => {
  const bytes = Buffer.from(data as string)
  writeFileSync(path as string, bytes.subarray(0, bytes.length / 2))
})

const handles = new WeakMap<object, string>()
const { open } = fs.promises
fs.promises.open = async (path, ...how) => {
  const handle = await open(path, ...how)
  const name = shape(path)
  if (name !== null) handles.set(handle, name)
  return handle
}
const probe = await open('/dev/null')
wrap(Object.getPrototypeOf(probe), 'sync', (_parameters, self) => {
  const path = handles.get(self as object)
  return path === undefined ? null : `fsync ${path}`
})
await probe.close()

/** Ports in the order of their first connection: the service is first, because the form comes before the upload. */
const ports = new Set<unknown>()
wrap(net.Socket.prototype, 'connect', ([parameters]) => {
  const [{ port }] = (Array.isArray(parameters) ? parameters : [parameters]) as [{ port: unknown }]
  if (port === undefined) return null
  ports.add(port)
  return `connect to the ${[...ports].indexOf(port) === 0 ? 'service' : 'storage'}`
})

if (isMainThread) wrapDatabase()
syncBuiltinESMExports()

function wrapDatabase(): void {
  const Database = createRequire(import.meta.url)('better-sqlite3')
  const memory = new Database(':memory:')
  const statement = Object.getPrototypeOf(memory.prepare('SELECT 1'))
  memory.close()
  /** The writes of the current transaction so far. */
  let written: string[] = []

  const run = statement.run
  statement.run = function (...parameters: unknown[]) {
    const work = () => run.apply(this, parameters)
    if (this.source === 'COMMIT') {
      const label = written.join(', ')
      written = []
      return label === '' ? work() : step(`commit: ${label}`, work)
    }
    if (/^(BEGIN|ROLLBACK|SAVEPOINT|RELEASE)/.test(this.source)) return work()
    const fact = factOf(this.source, parameters)
    if (fact === null) return work()
    if (!this.database.inTransaction) return step(`commit: ${fact}`, work)
    const done = work()
    if (done.changes > 0) written.push(fact)
    return done
  }
  wrap(Database.prototype, 'pragma', ([text]) =>
    String(text).startsWith('journal_mode') ? `set ${text}` : null,
  )
  wrap(Database.prototype, 'close', (_parameters, self) =>
    (self as { readonly: boolean }).readonly ? null : 'close a database',
  )
  const { exec } = Database.prototype
  Database.prototype.exec = function (sql: string) {
    if (sql.includes('CREATE TABLE')) written.push('the schema')
    return exec.call(this, sql)
  }
}

function factOf(sql: string, parameters: unknown[]): string | null {
  const text = sql.trim()
  if (text.startsWith('INSERT INTO events')) {
    const [{ from, to }] = parameters as [{ from: unknown; to: unknown }]
    return to === 'seen' ? 'seen' : `${from ?? 'new'} -> ${to}`
  }
  if (text.startsWith('UPDATE events')) return 'seen'
  if (text.startsWith('INSERT INTO attempts')) return 'attempt started'
  if (text.startsWith('UPDATE attempts')) {
    return `attempt ended: ${(parameters[0] as { outcome: unknown }).outcome}`
  }
  if (text.startsWith('REPLACE INTO files')) return 'file recorded'
  if (text.startsWith('INSERT INTO departures')) return 'a file will leave the folder'
  if (/^UPDATE versions SET spool = \+\? WHERE/.test(text)) return 'copy given up'
  return null
}
