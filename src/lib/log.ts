// Owns logging: one JSON line an event on stdout, with a static message and the facts in fields.
// Never logged: form fields, signatures, keys, the content of a posting.

import { fstatSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'
import { LOG_EVENTS } from './log-events.ts'
import { printableJson } from './printable.ts'

export type Log = Logger

export interface LogOptions {
  level: string
  /** `auto`: readable on a terminal, JSON otherwise, with priority prefixes only under journald. */
  format: 'auto' | 'json' | 'text'
  destination?: DestinationStream | undefined
}

/** syslog priorities, as journald reads them from `<N>` in front of a line (sd-daemon(3)). */
const PRIORITY: Record<number, number> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 }

export function createLog(options: LogOptions): Log {
  const out = options.destination ?? process.stdout
  const text = options.format === 'text' || (options.format === 'auto' && process.stdout.isTTY)
  const journal = options.format === 'auto' && !text && writesToJournal()
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(args, method) {
          method.apply(this, withEvent(args) as typeof args)
        },
      },
    },
    text ? readable(out) : journal ? prefixed(out) : plain(out),
  )
}

/** Adds the code of the event to what is logged as `(fields, message)` or `(message)`. */
function withEvent(args: readonly unknown[]): unknown[] {
  const [fields, message] = args.length === 1 ? [{}, args[0]] : args
  const event = LOG_EVENTS[String(message)]
  return event === undefined || typeof fields !== 'object'
    ? [...args]
    : [{ event, ...fields }, message]
}

/** journald announces itself as `JOURNAL_STREAM=device:inode` of the stream that it reads. */
function writesToJournal(): boolean {
  const stream = process.env.JOURNAL_STREAM
  if (stream === undefined) return false
  const { dev, ino } = fstatSync(1)
  return stream === `${dev}:${ino}`
}

function plain(out: DestinationStream): DestinationStream {
  return { write: (line: string) => out.write(printableJson(line)) }
}

function prefixed(out: DestinationStream): DestinationStream {
  const stream = {
    lastLevel: 30,
    [Symbol.for('pino.metadata')]: true,
    write: (line: string) => {
      out.write(`<${PRIORITY[stream.lastLevel] ?? 6}>${printableJson(line)}`)
    },
  }
  return stream
}

function readable(out: DestinationStream): DestinationStream {
  return {
    write: (line: string) => {
      // The code is for programs.
      const { time, level, msg, event: _event, ...fields } = JSON.parse(line)
      const shown = Object.entries(fields).map(([key, value]) => `${key}=${shortly(value)}`)
      out.write(`${time} ${String(level).padEnd(5)} ${[msg, ...shown].join('  ')}\n`)
    },
  }
}

function shortly(value: unknown): string {
  return typeof value === 'string' && /^[\w./:-]+$/.test(value)
    ? value
    : printableJson(JSON.stringify(value))
}
