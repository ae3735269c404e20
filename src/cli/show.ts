// feedsyncd show: everything about one version, with its events and attempts.

import { Command } from 'commander'
import { openStatus } from '../app/queries.ts'
import type { ShowReport } from '../history/report.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { formatBytes, formatProgress } from '../lib/units.ts'
import { nextStep, nextText } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import { versionId } from './arguments.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { printable, table } from './render.ts'

interface Options {
  all?: boolean
  config?: string
  json?: boolean
}

const ATTEMPT = 'attempt,started,ended,outcome,status,code,bytes sent,key'.split(',')
/** Events, attempts and campaign ids that a person can take in. */
const MOST = 50

export function showCommand(context: Context): Command {
  return new Command('show')
    .description('everything about one version: what it holds, what happened to it, each attempt')
    .argument('<id>', 'the id that status prints', versionId)
    .option('--all', 'every event and attempt, not only the newest 50')
    .option('--json', 'the documented JSON')
    .action((id: number, _options, command: Command) => {
      const { all, config, json } = command.optsWithGlobals<Options>()
      using status = openStatus(readConfig(context, config), context.clock, context.env)
      const report = status.show(id, all || json ? undefined : MOST)
      if (report === null) {
        throw new FeedsyncError(`there is no version ${id}`, {
          hint: 'feedsyncd status --all lists them',
        })
      }
      if (json) outJson(context, report)
      else {
        const line = commandLineHere(context.env, config)
        context.out(showText(report, context.clock.now(), line, all))
      }
    })
}

function showText(report: ShowReport, now: number, commandLine: CommandLine, all = false): string {
  const { changes, externalCampaignIds: campaigns } = report
  const facts: [string, string | number | null][] = [
    ['feed', report.feed],
    ['path', report.path],
    ['account', report.account],
    ['state', report.state],
    ['sent', report.progress && formatProgress(report.progress, report.bytes ?? 0)],
    ['guard', report.guard],
    ['reason', report.reason],
    ['next', nextText(nextStep(report, now, commandLine))],
    ['postings', report.postings],
    [
      'changes',
      changes && `${changes.added} added, ${changes.removed} removed, ${changes.changed} changed`,
    ],
    ['records', report.records],
    [
      'campaigns',
      campaigns &&
        limited(
          Object.entries(campaigns).map(([id, n]) => `${id} (${n})`),
          all,
        ).join(', '),
    ],
    ['requisitions', report.requisitionIds],
    ['warnings', report.warnings.join('; ')],
    ['size', report.bytes === null ? null : `${formatBytes(report.bytes)} (${report.bytes} bytes)`],
    ['encoding', report.encoding],
    ['sha256', report.sha256],
    ['file', report.fileUrl],
    [
      'etag',
      report.etagVerified === null ? null : report.etagVerified ? 'verified' : 'not verifiable',
    ],
    ['detected', report.detectedAt],
    ['uploaded', report.uploadedAt],
    ['next attempt', report.nextAttemptAt],
  ]
  const known = facts.filter(([, value]) => value !== null && value !== '')
  const width = Math.max(...known.map(([name]) => name.length))
  const lines = known.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}`)
  const earlier = (left: number) =>
    left === 0
      ? []
      : [`… and ${left.toLocaleString('en-US')} earlier: ${commandLine(`show ${report.id} --all`)}`]
  const events = report.events.map(({ at, count, firstAt, from, to, reason }) => {
    const times = `${count?.toLocaleString('en-US')} times since ${firstAt}`
    return [at, from, to, firstAt === undefined ? reason : `${reason}; ${times}`]
  })
  lines.push('', ...earlier(report.earlierEvents))
  lines.push(table(['at', 'from', 'to', 'reason'], events, null))
  if (report.attempts.length > 0) {
    const attempts = report.attempts.map(
      ({ n, startedAt, endedAt, outcome, status, code, bytesSent, key }) => [
        n,
        startedAt,
        endedAt,
        outcome,
        status,
        code,
        bytesSent,
        key,
      ],
    )
    lines.push('', ...earlier(report.earlierAttempts), table(ATTEMPT, attempts, null))
  }
  return lines.join('\n')
}

function limited(texts: readonly string[], all: boolean): string[] {
  const more = texts.length - MOST
  return all || more <= 0 ? [...texts] : [...texts.slice(0, MOST), `and ${more} more: --all`]
}
