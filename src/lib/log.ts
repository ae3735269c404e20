// Owns logging: one JSON line for each event on stdout, with a sentence for people and the facts in fields. It never
// logs form fields, signatures, keys or the content of a posting.

import { fstatSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import { printable, printableJson } from './printable.ts'

/** LogFields are the facts of a line. Programs match `event`, people read the message; see docs/logs.md. */
interface LogFields {
  /** The part of the program, and what happened: `service.clock-skew`. */
  event: `${string}.${string}`
  id?: number | undefined
  feed?: string | undefined
  [fact: string]: unknown
}

type Level = 'debug' | 'info' | 'warn' | 'error'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Log writes one line for each call; `level` may be changed at any time. */
export type Log = Record<Level, (fields: LogFields, message: string) => void> & { level: string }

const nothing = () => {}

export const silentLog: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  level: 'silent',
}

export interface LogOptions {
  level: string
  /** `auto` means text on a terminal, otherwise JSON. Under journald each line then begins with its priority. */
  format: 'auto' | 'json' | 'text'
  destination?: DestinationStream | undefined
}

/** syslog priorities by level: journald reads them from `<N>` in front of a line (sd-daemon(3)). */
const PRIORITY: Record<number, number> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 }

/** createLog returns a log that writes. It loads the library only now, because most commands need no log. */
export async function createLog({
  level,
  format,
  destination: out = process.stdout,
}: LogOptions): Promise<Log> {
  const { pino } = await import('pino')
  const text = format === 'text' || (format === 'auto' && process.stdout.isTTY)
  const journal = format === 'auto' && !text && writesToJournal()
  const stream = {
    /** Level of the current line. pino sets it, because this stream has the symbol below. */
    lastLevel: 30,
    [Symbol.for('pino.metadata')]: true,
    write: (line: string) => {
      const priority = journal ? `<${PRIORITY[stream.lastLevel] ?? 6}>` : ''
      out.write(text ? `${readableLine(JSON.parse(line))}\n` : priority + printableJson(line))
    },
  }
  const timestamp = pino.stdTimeFunctions.isoTime
  const formatters = { level: (label: string) => ({ level: label }) }
  // An async function must not return pino's own type, which allows any member and so a `then`, too.
  const log: Log = pino({ level, base: null, timestamp, formatters }, stream)
  return log
}

/** writesToJournal returns whether stdout is the stream that journald reads (`JOURNAL_STREAM=device:inode`). */
function writesToJournal(): boolean {
  const stream = process.env.JOURNAL_STREAM
  if (stream === undefined) return false
  const { dev, ino } = fstatSync(1)
  return stream === `${dev}:${ino}`
}

/** readableLine writes a line of the log for people: without `event`, and without fields that the message repeats. */
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
