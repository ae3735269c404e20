// Owns logging: one JSON line an event on stdout, with the event as a sentence and the facts in fields.
// Never logged: form fields, signatures, keys, the content of a posting.

import { fstatSync } from 'node:fs'
import type { DestinationStream } from 'pino'
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

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** What the program logs by; `level` can be changed while it runs. */
export type Log = Record<Level, (fields: LogFields, message: string) => void> & { level: string }

const nothing = () => {}

/** A log that writes nothing. */
export const silentLog: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  level: 'silent',
}

export interface LogOptions {
  level: string
  /** `auto`: readable on a terminal, JSON otherwise, with priority prefixes only under journald. */
  format: 'auto' | 'json' | 'text'
  destination?: DestinationStream | undefined
}

/** syslog priorities, as journald reads them from `<N>` in front of a line (sd-daemon(3)). */
const PRIORITY: Record<number, number> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 }

/** A log that writes. The library is loaded here, since a command that only reads the history needs no log. */
export async function createLog({
  level,
  format,
  destination: out = process.stdout,
}: LogOptions): Promise<Log> {
  const { pino } = await import('pino')
  const text = format === 'text' || (format === 'auto' && process.stdout.isTTY)
  const journal = format === 'auto' && !text && writesToJournal()
  const stream = {
    /** Of the line that is written: pino sets it where it finds the symbol. */
    lastLevel: 30,
    [Symbol.for('pino.metadata')]: true,
    write: (line: string) => {
      const priority = journal ? `<${PRIORITY[stream.lastLevel] ?? 6}>` : ''
      out.write(text ? `${readableLine(JSON.parse(line))}\n` : priority + printableJson(line))
    },
  }
  const timestamp = pino.stdTimeFunctions.isoTime
  const formatters = { level: (label: string) => ({ level: label }) }
  // Named, since an async function may not return what pino's own type says: it allows any member, `then` too.
  const log: Log = pino({ level, base: null, timestamp, formatters }, stream)
  return log
}

/** journald announces itself as `JOURNAL_STREAM=device:inode` of the stream that it reads. */
function writesToJournal(): boolean {
  const stream = process.env.JOURNAL_STREAM
  if (stream === undefined) return false
  const { dev, ino } = fstatSync(1)
  return stream === `${dev}:${ino}`
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
