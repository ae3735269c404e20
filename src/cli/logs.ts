// feedsyncd logs: the log as a person reads it, all of it or what is about one feed. The journal has it; where there
// is none (a container), a file or stdin.

import { spawn } from 'node:child_process'
import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Command } from 'commander'
import { errnoText } from '../lib/errno.ts'
import { errorCode, FeedsyncError } from '../lib/errors.ts'
import { readableLine } from '../lib/log.ts'
import type { Context } from './context.ts'
import { usageError } from './define.ts'
import { printable } from './render.ts'

interface Options {
  follow?: boolean
  since?: string
  file?: string
}

export function logsCommand(context: Context): Command {
  return new Command('logs')
    .description('the log in plain lines: all of it, or what is about one feed')
    .argument('[feed]', 'a feed, a path in the inbox, or the id of a version')
    .option('-f, --follow', 'wait for new lines, until interrupted')
    .option('--since <time>', 'of the journal, such as today or "1 hour ago"')
    .option('--file <file>', 'the log in this file, or - for stdin; else in the journal')
    .action(async (feed: string | undefined, options: Options) => {
      const { input, ended = null } = sourceOf(options)
      try {
        for await (const line of createInterface(input)) {
          const shown = shownAs(line, feed)
          if (shown !== null) context.out(shown)
        }
      } catch (error) {
        throw unreadable(error, options.file)
      }
      const code = await ended
      if (!code) return
      const hint = 'it says why above; root and the group systemd-journal may read the journal'
      throw new FeedsyncError(`logs: journalctl ended with ${code}`, { hint })
    })
}

/** `ended`: the exit code of the program that writes it; null: by a signal. */
interface Source {
  input: NodeJS.ReadableStream
  ended?: Promise<number | null>
}

function sourceOf({ file, follow = false, since }: Options): Source {
  if (file === '-') return { input: process.stdin }
  if (file !== undefined) {
    if (existsSync(file)) return { input: createReadStream(file) }
    throw usageError(`logs: there is no file ${file}`, 'check the path')
  }
  const args = ['-u', 'feedsyncd', '-o', 'cat', '--no-pager', ...(follow ? ['-f'] : [])]
  const all = since === undefined ? args : [...args, '--since', since]
  const child = spawn('journalctl', all, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.on('error', (error) => child.stdout.destroy(noJournal(error)))
  return { input: child.stdout, ended }
}

function unreadable(error: unknown, file: string | undefined): unknown {
  if (file === undefined || errorCode(error) === null) return error
  const subject = { name: `logs: ${file}`, setting: '--file', use: 'read' } as const
  const { hint, reason } = errnoText(error, subject)
  return new FeedsyncError(reason, { hint, cause: error })
}

function noJournal(error: Error): Error {
  if (errorCode(error) !== 'ENOENT') return error
  return new FeedsyncError('this host has no journalctl', {
    hint: 'pass the log on, such as: docker logs feedsyncd | feedsyncd logs --file -',
  })
}

/** Null for a line about another feed. Lines of other programs, such as systemd, are about none. */
function shownAs(line: string, feed: string | undefined): string | null {
  const fields = fieldsOf(line)
  if (fields === null) return feed === undefined ? printable(line) : null
  const about = [fields.feed, fields.path, fields.id].map(String)
  return feed === undefined || about.includes(feed) ? readableLine(fields) : null
}

function fieldsOf(line: string): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(line)
    return typeof fields === 'object' ? (fields as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}
