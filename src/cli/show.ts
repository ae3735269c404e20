// feedsyncd show: everything about one version, with its events and attempts.

import type { Command } from 'commander'
import { openStatus } from '../app/queries.ts'
import type { ShowReport } from '../history/report.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { limited } from '../lib/limited.ts'
import { formatBytes, formatProgress } from '../lib/units.ts'
import { nextStep, nextText } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import type { Context } from './context.ts'
import { define, versionId } from './define.ts'
import { factsText, table } from './render.ts'
import { coloured } from './status-view.ts'

const ATTEMPT = 'attempt,started,ended,outcome,status,code,bytes sent,key'.split(',')
/** Events, attempts and campaign ids that a person can take in. */
const MOST = 50

export function showCommand(context: Context): Command {
  const text = 'everything about one version: what it holds, what happened to it, each attempt'
  return define<{ all?: boolean }>(context, 'show', text, async (call, id: number) => {
    const { commandLine, config, options, show } = call
    const { all = false, json } = options
    using status = openStatus(config, context.clock, context.env)
    const report = status.show(id, all || json ? undefined : MOST)
    if (report === null) {
      const hint = `${commandLine('status --all')} lists them`
      throw new FeedsyncError(`there is no version ${id}`, { hint })
    }
    show(report, () => {
      const text = showText(report, context.clock.now(), commandLine, all)
      return text.replace(/^(state|reason) .*$/gm, (line) =>
        coloured(line, report, context.terminal),
      )
    })
  })
    .argument('<id>', 'the id that status prints', versionId)
    .option('--all', 'every event and attempt, not only the newest 50')
}

function showText(report: ShowReport, now: number, commandLine: CommandLine, all: boolean): string {
  const facts = factsOf(report, now, commandLine, all)
  const lines = [factsText(facts.filter(([, value]) => value !== ''))]
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
    const attempts = report.attempts.map((attempt) => [
      ...[attempt.n, attempt.startedAt, attempt.endedAt, attempt.outcome],
      ...[attempt.status, attempt.code, attempt.bytesSent, attempt.key],
    ])
    lines.push('', ...earlier(report.earlierAttempts), table(ATTEMPT, attempts, null))
  }
  return lines.join('\n')
}

/** What is known. */
function factsOf(report: ShowReport, now: number, commandLine: CommandLine, all: boolean) {
  const { bytes, changes, etagVerified, externalCampaignIds: campaigns, progress } = report
  const ids = Object.entries(campaigns ?? {}).map(([id, n]) => `${id} (${n})`)
  const most = all ? ids.length : MOST
  const shown = limited(ids, most, (more) => `and ${more} more: --all`)
  const changed =
    changes && `${changes.added} added, ${changes.removed} removed, ${changes.changed} changed`
  return [
    ['feed', report.feed],
    ['path', report.path],
    ['account', report.account],
    ['state', report.state],
    ['sent', progress && formatProgress(progress, bytes ?? 0)],
    ['guard', report.guard],
    ['reason', report.reason],
    ['next', nextText(nextStep(report, now, commandLine))],
    ['postings', report.postings],
    ['changes', changed],
    ['records', report.records],
    ['campaigns', shown.join(', ')],
    ['requisitions', report.requisitionIds || null],
    ['warnings', report.warnings.join('; ')],
    ['size', bytes === null ? null : `${formatBytes(bytes)} (${bytes} bytes)`],
    ['encoding', report.encoding],
    ['sha256', report.sha256],
    ['file', report.fileUrl],
    ['etag', etagVerified === null ? null : etagVerified ? 'verified' : 'not verifiable'],
    ['detected', report.detectedAt],
    ['uploaded', report.uploadedAt],
    ['next attempt', report.nextAttemptAt],
  ] as const
}
