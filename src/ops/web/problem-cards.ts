// The problems on the status page: each kind once, the worst first, with its names and what to do.

import { IN_WORK } from '../../domain/states.ts'
import { countOf, formatProgress } from '../../lib/units.ts'
import { onServiceText } from '../advice.ts'
import { firstLine, type Problem, type Step, subjectName } from '../problem.ts'
import type { Severity } from '../problem-kinds.ts'
import { type AlikeProblems, alike } from '../problems.ts'
import type { UploadReport } from '../upload-report.ts'
import { html, type Markup } from './html.ts'
import {
  ago,
  choice,
  count,
  feedLink,
  type PageContext,
  sentence,
  type Tone,
  versionLink,
} from './page-parts.ts'

/** How many cards are open at once. The others are one click away, so that the page stays short. */
const MOST_OPEN = 3
/** How many names of one kind of problem are shown at once. */
const MOST_NAMED = 3
/** A list names at most this many problems of one kind, even after a click. */
const MOST_LISTED = 500

export const TONES = { critical: 'bad', warning: 'warn', info: 'dim' } as const satisfies Record<
  Severity,
  Tone
>

const NOUNS = { feed: 'feed', path: 'file', account: 'account', campaign: 'campaign' } as const

function nounOf(kind: Problem['subject']['kind']): string {
  return kind in NOUNS ? NOUNS[kind as keyof typeof NOUNS] : 'problem'
}

/** headlineOf says in one sentence what a person has to know first. */
export function headlineOf(problems: readonly Problem[], feeds: number): string {
  const urgent = problems.filter(({ severity }) => severity !== 'info')
  const [first, ...others] = urgent
  if (first === undefined)
    return feeds === 0 ? 'Waiting for the first feed' : 'Nothing needs attention'
  const isOfHost = first.subject.kind === 'daemon' || first.subject.kind === 'service'
  if (first.severity === 'critical' || (isOfHost && others.length === 0))
    return sentence(firstLine(first))
  const names = new Map<string, Set<string>>()
  for (const { code, subject } of urgent) {
    const noun = nounOf(subject.kind)
    const known = names.get(noun) ?? new Set()
    names.set(noun, known.add(subjectName(subject) || code))
  }
  const counts = [...names].map(([noun, { size }]) => countOf(size, noun))
  const isOne = names.size === 1 && [...names.values()][0]?.size === 1
  return `${counts.join(' and ')} ${isOne ? 'needs' : 'need'} attention`
}

/** problemCards returns the problems as cards, with one card for alike problems; null if `problems` is empty. */
export function problemCards(
  problems: readonly Problem[],
  uploads: readonly UploadReport[],
  context: PageContext,
): Markup | null {
  const groups = alike(problems, context.commandLine)
  if (groups.length === 0) return null
  const byId = new Map(uploads.map((upload) => [upload.id, upload]))
  const cards = groups.map((group) => card(group, byId, context))
  const rest = cards.slice(MOST_OPEN)
  const more =
    rest.length === 0
      ? null
      : html`<details data-key="more ${problems[0]?.severity ?? ''}"><summary>${count(rest.length)} more kinds of problems</summary><ul class="cards">${rest}</ul></details>`
  return html`<ul class="cards">${cards.slice(0, MOST_OPEN)}</ul>${more}`
}

function card(
  { next, problems }: AlikeProblems,
  byId: ReadonlyMap<number, UploadReport>,
  context: PageContext,
): Markup {
  const [first, ...others] = problems
  const { code, severity, since, version } = first
  const upload = version === null ? undefined : byId.get(version.id)
  const key = others.length === 0 ? firstLine(first) : `${code} ${first.says}`
  const names = others.length === 0 ? headingOf(first) : headingOfAll(problems)
  const link = others.length === 0 && version !== null ? html`${versionLink(version.id)}, ` : null
  return html`<li class="card ${TONES[severity]}" data-key="problem ${key}"><div class="top">${names}<span class="state ${TONES[severity]}">${severity}</span><span class="dim when">${link}${ago(since, context.now)}</span></div>
<p class="reason">${sentence(first.says)}</p>${others.length === 0 && upload !== undefined ? about(upload, context.now) : null}${steps(next)}</li>`
}

function headingOf(problem: Problem): Markup | null {
  if (subjectName(problem.subject) === '') return null
  return html`<h3 class="name">${nameOf(problem)}</h3>`
}

/** headingOfAll counts alike problems and names the first ones. A click shows the other names. */
function headingOfAll(problems: readonly Problem[]): Markup {
  const [first] = problems
  const noun = nounOf(first?.subject.kind ?? 'feed')
  const shown = problems.slice(0, MOST_NAMED).map((each) => html`<li>${nameOf(each)}</li>`)
  const rest = problems.slice(MOST_NAMED, MOST_LISTED)
  const more =
    rest.length === 0
      ? null
      : html`<details><summary>${count(problems.length - MOST_NAMED)} more</summary><ul class="names">${rest.map((each) => html`<li>${nameOf(each)}</li>`)}</ul></details>`
  return html`<h3 class="name">${count(problems.length)} ${noun}s</h3><ul class="names">${shown}</ul>${more}`
}

/** nameOf returns the name of a problem's subject, as a link if it is a feed. */
function nameOf({ subject }: Problem): Markup {
  return subject.kind === 'feed' ? feedLink(subject.feed) : html`<bdi>${subjectName(subject)}</bdi>`
}

/** about shows the progress of an upload, or what the service has of the feed; null while the version is in work. */
function about(upload: UploadReport, now: number): Markup | null {
  const { bytes, progress, state } = upload
  if (progress !== null) return html`<p class="reason">${formatProgress(progress, bytes ?? 0)}</p>`
  if (IN_WORK.includes(state)) return null
  return html`<p class="reason">On the service: ${onServiceText(upload, now)}</p>`
}

/** steps shows sentences, and commands that a click selects whole. */
export function steps(all: readonly Step[]): Markup | null {
  if (all.length === 0) return null
  const shown: (Markup | null)[] = []
  let commands: string[] = []
  for (const step of all) {
    if ('command' in step) {
      commands.push(step.command)
      continue
    }
    shown.push(choice(commands), html`<p class="next">${sentence(step.says)}</p>`)
    commands = []
  }
  return html`${shown}${choice(commands)}`
}
