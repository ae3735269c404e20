// feedsyncd demo: the sandbox and the daemon in a temporary directory, sample feeds end to end, and
// the status table. With --stay: the same, watching a folder that stays, until interrupted.

import { EventEmitter, once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import type { State, Version } from '../history/port.ts'
import { statusReport } from '../history/report.ts'
import { postingsText } from '../history/version-text.ts'
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, tellError } from './context.ts'
import { type DemoFeed, demoFeeds } from './demo-feeds.ts'
import { printable } from './render.ts'
import { stopped } from './sandbox.ts'
import { onSignals } from './signals.ts'
import { statusText } from './status-view.ts'

const ANY_PORT = { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } } as const
/** The demo ends in under a minute, or reports what is wrong. */
const PATIENCE_MS = 0.8 * MINUTE

export function demoCommand(context: Context): Command {
  return new Command('demo')
    .description('sandbox, daemon and sample feeds, end to end, in under a minute')
    .option('--stay', 'watch <dir>/inbox until interrupted, for files dropped by hand')
    .option('--dir <directory>', 'where everything goes (else a temporary directory)')
    .action(async ({ stay = false, dir }: { stay?: boolean; dir?: string }) => {
      const directory = dir ? resolve(dir) : mkdtempSync(join(tmpdir(), 'feedsyncd-demo-'))
      try {
        context.exit(await demo(context, directory, stay))
      } finally {
        if (dir === undefined) rmSync(directory, { recursive: true, force: true })
      }
    })
}

async function demo(context: Context, directory: string, stay: boolean): Promise<number> {
  const { clock, env, out } = context
  const { openApp } = await import('../app/app.ts')
  const { startSandboxIn } = await import('../sandbox/home.ts')
  await using sandbox = await startSandboxIn(directory, { port: 0, clock })
  const loaded = loadConfig(sandbox.configFile, {})
  if (loaded.kind === 'problems') throw new Error('the sandbox wrote a wrong configuration')
  const { config } = loaded
  const commandLine = commandLineHere(env, relative('.', sandbox.configFile))
  const story = createStory(out, clock)
  const notifyOperator = (message: string, hint: string | null) => tellError(context, message, hint)
  await using app = await openApp(
    { ...config, log: { ...config.log, level: 'silent' }, ...(stay && { http: ANY_PORT }) },
    // No proxy of the environment: the sandbox is on this host.
    { clock, env: {}, commandLine, notifyOperator, onMove: (version) => story.moved(version) },
  )
  using signals = onSignals({ ...context, drainMs: 5 * SECOND, reload: () => app.daemon.wake() })
  await using endpoint = await app.serve()
  out(`service  ${sandbox.url}\nstorage  ${sandbox.storageUrl}\ninbox    ${config.inbox.directory}`)
  if (endpoint !== null) out(`page     ${endpoint.address}`)
  out('')
  const done = new AbortController()
  const stop = AbortSignal.any([signals.stop, done.signal])
  const running = app.daemon.run({ once: false, stop, abort: signals.abort })
  let code: number = EXIT.ok
  try {
    if (stay) {
      out('drop XML feeds into the inbox; Ctrl-C ends\n')
      // The daemon may end first.
      await Promise.race([stopped(signals.stop), running])
      if (!signals.stop.aborted) code = EXIT.temporary
    } else {
      code = await dropAll(config.inbox.directory, story, clock, signals.stop)
    }
  } finally {
    done.abort()
    await running
  }
  const report = statusReport(app.history, true, sandbox.url, {})
  const view = { now: clock.now(), terminal: context.terminal, width: null, limit: 50 }
  out(`\n${statusText(report, { ...view, commandLine, staleAfterMs: Number.POSITIVE_INFINITY })}`)
  if (stay) out(`\nlook again: ${commandLine('status')}`)
  return signals.stop.aborted && !stay ? signals.exitCode : code
}

/** Drops each feed, waits for its end, and answers whether all ended as they should. */
async function dropAll(inbox: string, story: Story, clock: Clock, stop: AbortSignal) {
  const feeds = demoFeeds()
  const ends = feeds.map(async (feed) => {
    if (feed.cutAt !== undefined) {
      drop(inbox, feed, feed.bytes.subarray(0, feed.cutAt))
      await story.until(feed.name, 'incomplete')
      story.say(feed.name, 'its writer adds the rest')
    }
    drop(inbox, feed, feed.bytes)
    await story.until(feed.name, feed.expected)
  })
  const over = new AbortController()
  const patience = clock.sleep(PATIENCE_MS, AbortSignal.any([stop, over.signal]))
  await Promise.race([Promise.all(ends), patience])
  over.abort()
  const wrong = feeds.filter(({ name, expected }) => story.states.get(name) !== expected)
  if (stop.aborted || wrong.length === 0) return EXIT.ok
  const states = wrong.map(({ name }) => `${name} is ${story.states.get(name) ?? 'not seen'}`)
  throw new FeedsyncError(`the demo did not end in time: ${states.join(', ')}`, {
    hint: 'run it again with nothing else running; if it stays, report it',
  })
}

/** As a careful writer does: under a temporary name first. The late one writes in place. */
function drop(inbox: string, feed: DemoFeed, bytes: Buffer): void {
  const path = join(inbox, feed.name)
  mkdirSync(dirname(path), { recursive: true })
  const inPlace = feed.cutAt !== undefined
  writeFileSync(inPlace ? path : `${path}.part`, bytes)
  if (!inPlace) renameSync(`${path}.part`, path)
}

type Story = ReturnType<typeof createStory>

/** Prints every new state, and lets the demo wait for one. */
function createStory(out: (text: string) => void, clock: Clock) {
  const start = clock.monotonic()
  const states = new Map<string, State>()
  const moves = new EventEmitter()
  const say = (path: string, text: string) => {
    const seconds = (clock.monotonic() - start) / SECOND
    out(`${seconds.toFixed(2).padStart(6)} s  ${printable(path).padEnd(22)}  ${printable(text)}`)
  }
  return {
    states,
    say,
    moved: ({ path, state, reason, postings }: Version) => {
      states.set(path, state)
      const facts = [
        state,
        reason,
        state === 'queued' ? `${postingsText(postings)}, well-formed` : null,
      ]
      say(path, facts.filter((fact) => fact !== null).join(': '))
      moves.emit(`${path} ${state}`)
    },
    /** To be called before the state can come. */
    until: (path: string, state: State) => once(moves, `${path} ${state}`),
  }
}
