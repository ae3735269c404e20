// feedsyncd release, discard and restore record an operator's decision about versions. On a terminal, release and restore
// first show what changes and ask, and then wait for the result.

import { type Command, Option } from 'commander'
import { changeOf } from '../app/compared-sides.ts'
import { acceptFolder, carryOut, type Deed, keepAll, openForDecisions } from '../app/decisions.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import { IN_WORK } from '../domain/states.ts'
import type { AfterLoss } from '../history/lost-history.ts'
import type { History, Version } from '../history/port.ts'
import { MINUTE } from '../lib/clock.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { excludeLine } from '../lib/glob.ts'
import { printable } from '../lib/printable.ts'
import { countOf } from '../lib/units.ts'
import { personName } from '../lib/user.ts'
import { onServiceText } from '../ops/advice.ts'
import { uploadReports } from '../ops/upload-report.ts'
import type { Context } from '../terminal/context.ts'
import { type Call, define, usageError, versionIds } from '../terminal/define.ts'
import { accountsToKeep, heldAsFurther } from './keeps-all.ts'
import { printEnds, waitUntilOver, whyNotSent } from './version-wait.ts'

type DecisionName = Exclude<Deed, 'retry'>

interface Options {
  accountKeepsAll?: boolean
  lostHistory?: boolean
  yes?: boolean
}

const DESCRIPTIONS: Record<DecisionName, string> = {
  release: 'deliver versions that a guard held',
  discard: 'never deliver versions that are held, waiting or failed; dismiss rejected ones',
  restore: 'deliver earlier versions again as new versions',
}

/** Longest wait for the result. A large upload takes longer, and `show` follows it. */
const LONGEST_MS = MINUTE

export function decisionCommand(name: DecisionName, context: Context): Command {
  const command = define<Options>(
    context,
    name,
    DESCRIPTIONS[name],
    async (call, ids: number[] = []) => {
      const isAfterLoss = call.options.lostHistory === true
      const hasIds = ids.length > 0
      if (hasIds === isAfterLoss) {
        const what = name === 'release' ? 'an id or --lost-history' : 'an id'
        command.error(`error: give ${what}`, { exitCode: EXIT.usage })
      }
      using history = openForDecisions(call.config, context.clock)
      if (isAfterLoss) return releaseAfterLoss(call, history)
      await decideEach(call, history, { ids, name })
    },
  )
  command.argument('[id...]', 'the ids that status prints', versionIds)
  if (name !== 'discard') command.option('--yes', 'do not ask')
  if (name === 'release')
    command
      .option('--lost-history', 'release what is held because the history was lost')
      .addOption(
        new Option(
          '--account-keeps-all',
          'say that the service keeps all feeds of the account, and hold no further feed of it',
        ).conflicts('lostHistory'),
      )
  return command
}

interface Order {
  name: DecisionName
  ids: readonly number[]
}

async function decideEach(
  call: Call<Options>,
  history: History,
  { ids, name }: Order,
): Promise<void> {
  const { context, options, show } = call
  const isAsked = name !== 'discard' && context.ask !== null && !options.json && !options.yes
  if (isAsked) {
    for (const id of ids) await showChange(call, history, id)
    const what = ids.length === 1 ? 'it' : `these ${ids.length}`
    if (!(await confirm(call, `${name} ${what}? [y/N] `))) return
  }
  const furtherFeeds = heldAsFurther(history, ids)
  const isAskedOfAccounts = isAsked && name === 'release' && !options.accountKeepsAll
  const accounts = await accountsToKeep(call, isAskedOfAccounts ? furtherFeeds : [])
  const { config } = call
  const deciding = { by: personName(context.env), now: context.clock.now(), config }
  const decide = (id: number) => carryOut(history, { deed: name, id }, deciding)
  const versions = history.atomically(() => {
    const decided = ids.map(decide)
    const kept = options.accountKeepsAll ? decided.map(({ account }) => account) : accounts
    return [...decided, ...keepAll(history, kept, deciding)]
  })
  const reports = versions.map(uploadReports(history))
  const toLeaveOut = name === 'discard' ? furtherFeeds.map(({ path }) => path) : []
  const files = toLeaveOut.length === 1 ? 'this file' : 'these files'
  const line = printable(`to leave ${files} out, set under inbox: ${excludeLine(toLeaveOut)}`)
  show(reports.length === 1 ? (reports[0] ?? {}) : { uploads: reports }, () =>
    [linesOf(versions), ...(toLeaveOut.length === 0 ? [] : [line])].join('\n'),
  )
  await finish(call, history, versions)
}

/** releaseAfterLoss releases what is held for a lost history. It asks first, because a wrong release can wipe feeds. */
async function releaseAfterLoss(call: Call<Options>, history: History): Promise<void> {
  const { context, options, show } = call
  const held = history.heldAfterLoss()
  if (held === null)
    throw new FeedsyncError('release --lost-history: no history was lost here', {
      hint: hintWith('see what is held and why', commandFor('status')),
    })
  if (!options.yes) {
    if (context.ask === null || options.json)
      throw usageError(
        'release --lost-history: without a terminal nobody can be asked',
        hintWith(
          'look at each held version first; then',
          commandFor('release --lost-history --yes'),
        ),
      )
    context.err(lossText(history, held).map(printable).join('\n'))
    if (!(await confirm(call, `release the first ${held.plausible.length}? [y/N] `))) return
  }
  const { config } = call
  const deciding = { by: personName(context.env), now: context.clock.now(), config }
  const { collapsed, plausible } = acceptFolder(history, deciding) ?? held
  const report = uploadReports(history)
  const json = { released: plausible.map(report), left: collapsed.map(report) }
  const none = 'nothing was released; feeds are delivered as usual from now on'
  show(json, () => {
    const left = collapsed.map((version) => printable(`left held: ${keptText(history, version)}`))
    return [plausible.length === 0 ? none : linesOf(plausible), ...left].join('\n')
  })
  await finish(call, history, plausible)
}

function lossText(history: History, { collapsed, plausible }: AfterLoss): string[] {
  return [
    'to be released:',
    ...(plausible.length === 0 ? ['  nothing'] : []),
    ...plausible.map((version) => `  ${keptText(history, version)}`),
    ...(collapsed.length === 0
      ? []
      : ['left held, because more than half of the postings are missing:']),
    ...collapsed.map((version) => `  ${keptText(history, version)}`),
  ]
}

function keptText(history: History, { feed, id, postings }: Version): string {
  const kept = history.keptPostings(feed)
  const before = kept === null ? 'no copy was kept' : `${countOf(kept)} in its largest kept copy`
  return `version ${id} of ${feed}: ${countOf(postings ?? 0, 'posting')} now, ${before}`
}

/** showChange prints what the service has now, what it gets, and which postings change by that. */
async function showChange(
  { config, context }: Call<Options>,
  history: History,
  id: number,
): Promise<void> {
  const version = history.version(id)
  // carryOut reports that the version does not exist.
  if (version === null) return
  const report = uploadReports(history)(version)
  const { reason } = report
  const { feed, postings } = version
  const lines = [
    `version ${id} of ${feed}: ${countOf(postings ?? 0, 'posting')}`,
    ...(reason === null ? [] : [`  ${reason}`]),
    `on the service: ${onServiceText(report, context.clock.now())}`,
  ]
  context.err(lines.map(printable).join('\n'))
  const change = await changeOf(config, history, version)
  if (typeof change === 'string') return context.err(printable(change))
  const { differenceText } = await import('./difference-view.ts')
  context.err(`${differenceText(change.summary, context)}\n`)
}

/** confirm returns whether the person says yes. After a no it prints that nothing was changed, and sets exit code 1. */
async function confirm({ context }: Call<Options>, question: string): Promise<boolean> {
  if (await context.ask?.(question)) return true
  context.err('nothing was changed')
  context.exit(EXIT.failed)
  return false
}

function linesOf(versions: readonly Version[]): string {
  return versions
    .map(({ feed, id, state }) => printable(`version ${id} of ${feed} is ${state}`))
    .join('\n')
}

/**
 * finish says why nothing is sent now, and sets exit code 75. Otherwise, if a person sits at a terminal, it waits for
 * the result of queued versions, prints it and sets its exit code.
 */
async function finish(
  call: Call<Options>,
  history: History,
  versions: readonly Version[],
): Promise<void> {
  const { context, options } = call
  const why = whyNotSent(call, history, versions)
  if (why !== null) {
    if (!options.json) context.err(why)
    return context.exit(EXIT.temporary)
  }
  if (context.ask === null || options.json) return
  const isOver = ({ nextAttemptAt, state }: Version) =>
    !IN_WORK.includes(state) || nextAttemptAt !== null
  await waitUntilOver(history, { clock: context.clock, versions, isOver, mostMs: LONGEST_MS })
  if (versions.some(({ state }) => state === 'queued'))
    context.exit(printEnds(call, history, versions))
}
