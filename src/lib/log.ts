// Owns logging: one JSON line an event on stdout, with the event as a sentence and the facts in fields.
// Never logged: form fields, signatures, keys, the content of a posting.

import { fstatSync } from 'node:fs'
import { type DestinationStream, pino } from 'pino'
import { printable, printableJson } from './printable.ts'

/** The facts of a line. Programs match `event`, people read the message; docs/logs.md lists the events. */
export interface LogFields {
  /** Where it belongs, and what happened. */
  event: `${string}.${string}`
  /** Of a version. */
  id?: number | undefined
  feed?: string | undefined
  [fact: string]: unknown
}

type Level = 'debug' | 'info' | 'warn' | 'error'

/** What the program logs by; `level` can be changed while it runs. */
export type Log = Record<Level, (fields: LogFields, message: string) => void> & { level: string }

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
    },
    text ? readable(out) : journal ? prefixed(out) : plain(out),
  )
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
  return { write: (line: string) => out.write(`${readableLine(JSON.parse(line))}\n`) }
}

/** A line of the log for people: without the code, which is for programs, and without what the message says already. */
export function readableLine({ event: _, level, msg, time, ...fields }: Record<string, unknown>) {
  const message = printable(String(msg))
  const shown = Object.entries(fields)
    .filter(([, it]) => it !== null && !(typeof it === 'string' && message.includes(printable(it))))
    .map(([key, value]) => `${key}=${shortly(value)}`)
  return `${time} ${String(level).padEnd(5)} ${[message, ...shown].join('  ')}`
}

function shortly(value: unknown): string {
  return typeof value === 'string' && /^[\w./:-]+$/.test(value)
    ? value
    : printableJson(JSON.stringify(value))
}
