// feedsyncd demo starts sandbox and daemon in a temporary directory, delivers sample feeds and prints the status table.
// With --stay it drops no feeds and watches the inbox until it is interrupted.

import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { commandFor } from '../domain/command.ts'
import type { State, Version } from '../history/port.ts'
import { postingsText } from '../history/version-log.ts'
import { MINUTE, SECOND } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { printable } from '../lib/printable.ts'
import { commandLineHere } from '../terminal/command-line.ts'
import { type Context, errorPrinter } from '../terminal/context.ts'
import { factsText, fitted, widthOf } from '../terminal/render.ts'
import { onSignals } from '../terminal/signals.ts'
import { type DemoFeed, demoFeeds } from './demo-feeds.ts'
import { statusText } from './status-view.ts'

const ANY_PORT = { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } } as const
/** The demo ends in under a minute. After this time it reports which feeds are not finished. */
const TIME_LIMIT_MS = 0.8 * MINUTE

export function demoCommand(context: Context): Command {
  return new Command('demo')
    .description('run sandbox, daemon and sample feeds end to end, in under a minute')
    .option('--stay', 'watch <dir>/inbox until interrupted, for files that you drop')
    .option('--dir <directory>', 'directory for all files (default: a temporary one)')
    .action(async ({ stay = false, dir }: { stay?: boolean; dir?: string }) => {
      const directory = dir ? resolve(dir) : mkdtempSync(join(tmpdir(), 'feedsyncd-demo-'))
      try {
        context.exit(await demo(context, { directory, stay }))
      } finally {
        if (dir === undefined) rmSync(directory, { recursive: true, force: true })
      }
    })
}

async function demo(
  context: Context,
  { directory, stay }: { directory: string; stay: boolean },
): Promise<number> {
  const { clock, env, out } = context
  const { openApp } = await import('../app/app.ts')
  const { statusOf } = await import('../app/status.ts')
  const { startSandboxIn } = await import('../sandbox/home.ts')
  await using sandbox = await startSandboxIn(directory, {
    ...{ port: 0, clock },
    knobs: { accountKeeps: 'all' },
  })
  const { config } = loadConfig(sandbox.configFile, {})
  const commandLine = commandLineHere(env, relative('.', sandbox.configFile))
  const began = clock.monotonic()
  const say = (path: string, text: string) => {
    const seconds = (clock.monotonic() - began) / SECOND
    out(`${seconds.toFixed(2).padStart(6)} s  ${printable(path).padEnd(22)}  ${printable(text)}`)
  }
  const inbox = config.inbox.directory
  const feeds = stay ? [] : demoFeeds()
  const done = new AbortController()
  const states = new Map<string, State>()
  const onMove = (version: Version) => {
    const { path, state } = version
    say(path, progressText(version))
    states.set(path, state)
    const feed = feeds.find(({ name }) => name === path)
    if (state === 'incomplete' && feed?.cutAt !== undefined) {
      say(path, 'its writer adds the rest')
      drop(inbox, feed, feed.bytes)
    }
    if (feeds.length > 0 && feeds.every(hasEnded)) done.abort()
  }
  const hasEnded = ({ name, expected }: DemoFeed) => states.get(name) === expected
  const notifyOperator = errorPrinter(context, commandLine)
  const logFile = stay ? join(directory, 'feedsyncd.log') : null
  using logged = logFile === null ? null : logTo(logFile)
  const level = logFile === null ? 'silent' : config.log.level
  await using app = await openApp(
    { ...config, log: { ...config.log, level }, ...(stay && { http: ANY_PORT }) },
    {
      // The empty environment keeps proxies out: the sandbox runs on this host.
      ...{ clock, env: {}, isDaemon: true, commandLine, notifyOperator, onMove },
      ...(logged !== null && { log: logged, logFile, startWith: startWith(env, directory) }),
    },
  )
  using signals = onSignals({ ...context, drainMs: 5 * SECOND })
  await using endpoint = await app.serve()
  const places = { service: sandbox.url, storage: sandbox.storageUrl, inbox }
  out(factsText([...Object.entries(places), ['page', endpoint?.address ?? null]]))
  out(stay ? '\ndrop XML feeds into the inbox; Ctrl-C ends\n' : '')
  const stop = AbortSignal.any([signals.stop, done.signal])
  const running = app.daemon.run({ once: false, stop, abort: signals.abort })
  using _timeLimit = stay ? null : clock.after(TIME_LIMIT_MS, () => done.abort())
  for (const feed of feeds) drop(inbox, feed, feed.bytes.subarray(0, feed.cutAt))
  await running
  const isStopped = signals.stop.aborted
  const late = isStopped ? [] : feeds.filter((feed) => !hasEnded(feed))
  if (late.length > 0) {
    const unfinished = late.map(({ name }) => `${name} is ${states.get(name) ?? 'not seen'}`)
    throw new FeedsyncError(`the demo did not end in time: ${unfinished.join(', ')}`, {
      hint: 'run it again with nothing else running; if it stays, report it',
    })
  }
  const report = statusOf(app.history, { clock, commandLine, config, snapshot: app.daemonState() })
  const view = { now: clock.now(), terminal: context.terminal, width: widthOf(context), limit: 50 }
  out(`\n${fitted(statusText(report, { ...view, commandLine }), widthOf(context))}`)
  if (stay) out(`\nlook again: ${commandLine(commandFor('status'))}`)
  // With --stay, the daemon has failed if it ends without a signal.
  if (stay) return isStopped ? EXIT.ok : EXIT.temporary
  return isStopped ? signals.exitCode : EXIT.ok
}

/** logTo returns a log that appends to a file, so that `feedsyncd logs` can read what the terminal does not show. */
function logTo(file: string): { write(line: string): void } & Disposable {
  const descriptor = openSync(file, 'a', 0o600)
  return {
    write: (line) => void writeSync(descriptor, line),
    [Symbol.dispose]: () => closeSync(descriptor),
  }
}

/** startWith returns the command that starts this trial again. */
function startWith(env: NodeJS.ProcessEnv, directory: string): string {
  const isNpm = env.npm_lifecycle_event === 'feedsyncd'
  if (isNpm && directory === resolve('var')) return 'npm start'
  return commandLineHere(env, undefined)(commandFor('demo --stay --dir <directory>', directory))
}

function progressText({ state, reason, postings }: Version): string {
  const checked = state === 'queued' ? `${postingsText(postings)}, well-formed` : null
  return [state, reason, checked].filter((fact) => fact !== null).join(': ')
}

/** drop writes a feed under a temporary name and renames the file. A feed that is cut short is written in place. */
function drop(inbox: string, feed: DemoFeed, bytes: Buffer): void {
  const path = join(inbox, feed.name)
  mkdirSync(dirname(path), { recursive: true })
  const inPlace = feed.cutAt !== undefined
  writeFileSync(inPlace ? path : `${path}.part`, bytes)
  if (!inPlace) renameSync(`${path}.part`, path)
}
