// Every story of one feed, or of two feeds of one account, searched without a database, a file or a socket. A story
// begins without a version; in each step one thing happens that can happen then: a file comes, a step of an attempt
// ends, a person decides, the process is killed, a copy is lost. What it means is asked of the same pure decisions as
// in the daemon.

import { failureOf, RULES } from '../../../src/domain/decision-table.ts'
import { OLDER } from '../../../src/domain/reason-codes.ts'
import { NEXT_STATES, REPLACEABLE } from '../../../src/domain/states.ts'
import type { Id, State, Transition, Version, VersionPatch } from '../../../src/history/port.ts'
import { FeedsyncError } from '../../../src/lib/errors.ts'
import { decideFile, type FileEvent, type FileFacts } from '../../../src/pipeline/decide/file.ts'
import { type Deed, decideDeed } from '../../../src/pipeline/decide/person.ts'
import { withNewestDate } from '../../../src/pipeline/decide/same-bytes.ts'
import {
  type AccountFacts,
  type AskingFeed,
  heldAnew,
  secondFeed,
} from '../../../src/pipeline/decide/second-feed.ts'
import {
  decideSending,
  type Held,
  type SendEvent,
  type SendFacts,
} from '../../../src/pipeline/decide/sending.ts'
import { decideStart } from '../../../src/pipeline/decide/start.ts'

/** Decisions are the pure functions under search. A test replaces one to see that the search finds the fault. */
export const DECISIONS = {
  ...{ decideDeed, decideFile, decideSending, decideStart },
  ...{ heldAnew, secondFeed },
}
export type Decisions = typeof DECISIONS

/** Told is a version in a story. Its id is its place in the list, counted from 1. */
interface Told {
  feed: string
  state: State
  approved: boolean
  hasCopy: boolean
  /** A guard has held the version, and no other judgement has freed it since. */
  wasHeld: boolean
  /** The version is held beside the other feed. */
  isBeside: boolean
  /** An attempt has an unknown outcome, so storage might have the version. */
  isMaybeStored: boolean
  /** A file with a later date was accepted before the version. */
  isOlder: boolean
  date: string | null
}

export interface Story {
  versions: readonly Told[]
  /** The attempts that run, one of a feed. In the phase `sent`, bytes of the file can be on their way. */
  running: readonly Running[]
  isPaused: boolean
  /** By feed: the id of the version that storage confirmed last. */
  served: Readonly<Record<string, number>>
  /** A person said that the service keeps all feeds of the account. */
  keepsAll: boolean
}

interface Running {
  id: number
  phase: 'asked' | 'sent'
}

/**
 * Limits keep a search finite. `paths` are the files of the feed, with or without dates in their names. A file whose
 * name begins with `g` is of the feed `g`, the others are of the feed `f`.
 */
export interface Limits {
  versions: number
  paths?: readonly string[]
}

export interface Found {
  /** How many different situations were found. */
  situations: number
  /** The first broken promise, with the steps that lead to it; null if no promise is broken. */
  broken: { promise: string; steps: readonly string[] } | null
}

const START: Story = { versions: [], running: [], isPaused: false, served: {}, keepsAll: false }
const feedOf = (path: string) => (path.startsWith('g') ? 'g' : 'f')
/** The search plays on this day (wall ms). */
const TODAY = Date.UTC(2026, 10, 23)
const PLAIN = ['f.xml'] as const
const TRY = { startedAt: 1, endedAt: 2, key: 'key', status: null, bytesSent: 0 }
const HELD: Held = { guard: 'drop', code: 'drop', reason: 'it dropped' }
const DEEDS: readonly Deed[] = ['release', 'discard', 'retry', 'restore']

const failed = (rule: keyof typeof RULES): Extract<SendEvent, { kind: 'failed' }> => {
  const failure = failureOf(RULES[rule], { code: rule, reason: rule })
  return {
    ...{ kind: 'failed', attempt: TRY, failure, notBefore: null, random: 0.5 },
    hold: null,
  }
}
const refused = failed('credentials')
const DISK = new FeedsyncError('the disk is full', { exitCode: 75 })
/** What a step of an attempt can find, by name. */
const ENDS: Record<string, SendEvent> = {
  'a failure that passes': failed('throttled'),
  'a failure for good': failed('tooLarge'),
  'an answer that cannot be read': failed('unreadableAnswer'),
  'refused credentials': { ...refused, hold: { failure: refused.failure, until: 9 } },
  'refused credentials, and the hold is over': refused,
  'a lost copy': failed('spoolChanged'),
  'a full disk': { kind: 'fault', attempt: TRY, error: DISK },
  'a fault of ours': { kind: 'fault', attempt: TRY, error: new Error('a bug') },
}
const CLOSED_ORIGIN: SendEvent = {
  ...{ kind: 'closed', until: 9 },
  failure: failureOf(RULES.waiting, { code: 'endpoint-down', reason: 'it is down' }),
}
const ABORTED: SendEvent = { kind: 'aborted', attempt: TRY }
const STORED: SendEvent = {
  ...{ kind: 'stored', attempt: TRY, fileUrl: null, etagVerified: true, warning: null },
}

/** Broken is thrown by a step that breaks a promise. */
class Broken extends Error {}

/** searchStories walks through every story within the limits, and stops at the first broken promise. */
export function searchStories(limits: Limits, decisions: Decisions = DECISIONS): Found {
  const came = new Map<string, { from: string | null; step: string }>()
  const stepsTo = (key: string | null): string[] => {
    const last = key === null ? undefined : came.get(key)
    return last === undefined || last.from === null ? [] : [...stepsTo(last.from), last.step]
  }
  const open: Story[] = [START]
  came.set(keyOf(START), { from: null, step: '' })
  // The shortest stories come first. The loop also reads the situations that it appends to the list.
  for (const story of open) {
    const from = keyOf(story)
    for (const [step, next] of stepsFrom(story, limits, decisions)) {
      try {
        const after = next()
        const key = keyOf(after)
        if (came.has(key)) continue
        came.set(key, { from, step })
        open.push(after)
        requireNextEvents(after)
      } catch (error) {
        if (!(error instanceof Broken)) throw error
        const broken = { promise: error.message, steps: [...stepsTo(from), step] }
        return { situations: came.size, broken }
      }
    }
  }
  return { situations: came.size, broken: null }
}

/** keyOf returns the same text for situations in which the same can happen. */
function keyOf({ isPaused, keepsAll, running, served, versions }: Story): string {
  const isOne = versions.every(({ feed }) => feed === 'f')
  const told = versions.map(
    ({ approved, date, feed, hasCopy, isBeside, isMaybeStored, isOlder, state, wasHeld }) => [
      ...(isOne ? [] : [feed, isMaybeStored, approved]),
      ...(NEXT_STATES[state].length === 0
        ? [state, isOlder, state === 'uploaded' && date]
        : [state, approved, hasCopy, wasHeld, date, isBeside]),
    ],
  )
  const attempts = running.map(({ id, phase }) => `${id}${phase}`).toSorted()
  return `${isPaused} ${keepsAll} ${attempts} ${served.f} ${served.g} ${told.join(' ')}`
}

type Step = [name: string, next: () => Story]

function stepsFrom(
  story: Story,
  { paths = PLAIN, versions: most }: Limits,
  decisions: Decisions,
): Step[] {
  const { isPaused, keepsAll, running, versions } = story
  const isRoom = versions.length < most
  const feeds = [...new Set(paths.map(feedOf))]
  const steps: Step[] = [
    [isPaused ? 'resume' : 'pause', () => ({ ...story, isPaused: !isPaused })],
    ['kill', () => started(story, decisions, () => null)],
    [
      'a copy of the state',
      () => started(story, decisions, () => ({ kind: 'copied-state', fileIsUnchanged: false })),
    ],
  ]
  for (const path of isRoom ? paths : []) {
    const come = (file: Omit<Came, 'path'>) => () => arrived(story, { path, ...file }, decisions)
    steps.push([`${path} is new`, come({})])
    steps.push([`${path} is new, and a guard holds it`, come({ isHeld: true })])
    if (versions.length > 0)
      steps.push([`${path} has the same bytes again`, come({ isSame: true })])
  }
  if (feeds.length > 1 && !keepsAll)
    steps.push([
      'the account keeps all feeds',
      () => judgedAnew({ ...story, keepsAll: true }, decisions),
    ])
  for (const feed of feeds) {
    const next = nextToSend(story, feed)
    if (next === null) continue
    steps.push([
      `ask for a form of ${next}`,
      () => ({ ...story, running: [...running, { id: next, phase: 'asked' }] }),
    ])
  }
  versions.forEach((version, n) => {
    const id = n + 1
    for (const deed of DEEDS)
      if (deed !== 'restore' || isRoom)
        steps.push([`${deed} ${id}`, () => decided(story, { id, deed }, decisions)])
    if (
      version.hasCopy &&
      NEXT_STATES[version.state].length > 0 &&
      running.every((one) => one.id !== id)
    )
      for (const fileIsThere of [true, false])
        steps.push([
          `the copy of ${id} is lost, its file ${fileIsThere ? 'is there' : 'too'}`,
          () =>
            started(story, decisions, ({ id: each }) =>
              each === id ? { kind: 'copy-lost', fileIsThere, paths: [] } : null,
            ),
        ])
  })
  for (const one of running) steps.push(...stepsOf(story, one, decisions))
  return steps
}

/** nextToSend returns the oldest waiting version of a feed; null if none waits, or during a pause or an attempt. */
function nextToSend({ isPaused, running, versions }: Story, feed: string): number | null {
  const isOf = (id: number) => versions[id - 1]?.feed === feed
  const isSending = versions.some((one) => one.feed === feed && one.state === 'uploading')
  if (isPaused || isSending || running.some(({ id }) => isOf(id))) return null
  const first = versions.findIndex((one) => one.feed === feed && one.state === 'queued')
  return first === -1 ? null : first + 1
}

/** stepsOf returns how the running attempt can go on. */
function stepsOf(story: Story, { id, phase }: Running, decisions: Decisions): Step[] {
  const on = (event: SendEvent, { isHeld = false } = {}) =>
    attempted(story, { id, event, isHeld }, decisions)
  const steps: Step[] = Object.entries(ENDS).map(([name, event]) => [
    `${name} (${id})`,
    () => on(event),
  ])
  steps.push([`the daemon stops the attempt of ${id}`, () => on(ABORTED)])
  if (phase === 'sent') steps.push([`storage has ${id}`, () => on(STORED)])
  else
    steps.push(
      [`the origin is down (${id})`, () => on(CLOSED_ORIGIN)],
      [`the form for ${id} is there`, () => on({ kind: 'prepared', startedAt: 1, key: 'key' })],
      [
        `the form for ${id} is there, and a guard holds it`,
        () => on({ kind: 'prepared', startedAt: 1, key: 'key' }, { isHeld: true }),
      ],
    )
  return steps
}

function attempted(
  story: Story,
  { event, id, isHeld }: { event: SendEvent; id: number; isHeld: boolean },
  decisions: Decisions,
): Story {
  const version = toldAs(story, id)
  const isJudged = isHeld && !version.approved
  const newest = (state: State) => {
    const isIt = ({ feed, ...other }: Told) => feed === version.feed && other.state === state
    const found = story.versions.findLastIndex((other, n) => n + 1 > id && isIt(other))
    return found === -1 ? null : found + 1
  }
  const besideNow = () =>
    event.kind === 'prepared' && !version.approved ? besideOthers(story, version, decisions) : null
  const facts: SendFacts = {
    version: { ...version, attempts: 1, retries: 0 },
    isPaused: story.isPaused,
    held: isJudged ? HELD : besideNow(),
    newer: { queued: newest('queued'), held: newest('held') },
    inARow: 0,
  }
  const after = write(story, decisions.decideSending(facts, event))
  const { state } = toldAs(after, id)
  if (event.kind === 'stored' && state !== 'uploaded')
    throw new Broken('what storage confirmed is on record')
  if (isJudged && state === 'uploading')
    throw new Broken('a version that a guard holds is not sent')
  const goesOn = event.kind === 'prepared' && state === 'uploading'
  const running = story.running.filter((one) => one.id !== id)
  if (event.kind === 'stored')
    return { ...after, running, served: { ...story.served, [version.feed]: id } }
  return { ...after, running: goesOn ? [...running, { id, phase: 'sent' }] : running }
}

/** Came is a file that was read, with new bytes or, if `isSame`, with the bytes of the newest version again. */
interface Came {
  path: string
  isHeld?: boolean
  isSame?: boolean
}

function arrived(
  story: Story,
  { isHeld = false, isSame = false, path }: Came,
  decisions: Decisions,
): Story {
  const feed = feedOf(path)
  const newestOf = (isMeant: (told: Told) => boolean): Version | null => {
    const found = story.versions.findLastIndex(isMeant)
    return found === -1 ? null : toldAs(story, found + 1)
  }
  const newest = newestOf((one) => one.feed === feed && !one.isOlder)
  const facts: FileFacts = {
    now: TODAY,
    unread: () => null,
    known: () => null,
    last: () => null,
    isAlone: () => true,
    waiting: () => waitingIn(story, feed),
    beforeReading: () => null,
    newestRead: () => newest,
    otherServiceUpTo: () => 0,
    newestDated: () => withNewestDate(datedIn(story, feed)),
  }
  const sha256 = isSame ? (newest?.sha256 ?? 'none') : 'new bytes'
  const event: FileEvent = {
    kind: 'read',
    file: { verdict: 'ok', reason: null, sha256, patch: { spool: 'a copy' }, final: false },
    held: () => (isHeld ? HELD : besideOthers(story, { feed, path }, decisions)),
  }
  const origin = { path, identity: null, rule: { feed, account: null, dated: true } }
  return write(story, decisions.decideFile(facts, origin, event))
}

/** datedIn returns the versions whose dates count: those that wait or are held, and the last upload. */
function datedIn(story: Story, feed: string): Version[] {
  const isOf = (one: Told) => one.feed === feed
  const last = story.versions.findLastIndex((one) => isOf(one) && one.state === 'uploaded')
  return story.versions.flatMap((one, n) => {
    const counts = ['queued', 'uploading', 'held'].includes(one.state) || n === last
    return counts && isOf(one) ? [toldAs(story, n + 1)] : []
  })
}

const waitingIn = (story: Story, feed: string) =>
  placed(story).filter((one) => one.feed === feed && REPLACEABLE.includes(one.state))

/** besideOthers judges a version beside the other feed of its account. */
function besideOthers(story: Story, own: AskingFeed, { secondFeed }: Decisions): Held | null {
  const others = story.versions.flatMap((told, n) => {
    const isOther = told.feed !== own.feed
    const isRival =
      ['queued', 'uploading', 'uploaded'].includes(told.state) ||
      told.approved ||
      told.isMaybeStored
    const goesFirst = told.state !== 'queued' || told.approved || told.isMaybeStored
    return isOther && isRival ? [{ ...toldAs(story, n + 1), postings: 1, goesFirst }] : []
  })
  const facts: AccountFacts = {
    account: '123',
    isKnown: isKnown(story, own.feed),
    keepsAll: story.keepsAll,
    rivals: () => others,
    alike: () => [],
  }
  return secondFeed(own, facts)
}

const isKnown = ({ versions }: Story, feed: string) =>
  versions.some((one) => one.feed === feed && (one.state === 'uploaded' || one.approved))

/** judgedAnew judges what is held beside the other feed once more, the oldest first. */
function judgedAnew(story: Story, decisions: Decisions): Story {
  return story.versions.reduce((so, { feed, isBeside, state }, n) => {
    if (state !== 'held' || !isBeside) return so
    const version = toldAs(so, n + 1)
    const held = besideOthers(so, version, decisions)
    const after = write(so, decisions.heldAnew(version, held, waitingIn(so, feed)))
    if (held !== null) return after
    const versions = [...after.versions]
    versions[n] = { ...(versions[n] as Told), wasHeld: false }
    return { ...after, versions }
  }, story)
}

function decided(
  story: Story,
  { deed, id }: { deed: Deed; id: number },
  { decideDeed }: Decisions,
): Story {
  const version = toldAs(story, id)
  const waiting = waitingIn(story, version.feed)
  const transitions = decideDeed({ version, waiting }, deed, 'maria')
  return Array.isArray(transitions) ? write(story, transitions) : story
}

/** started plays a start of the process, after which no attempt runs. `eventFor` says what the start finds. */
function started(
  story: Story,
  decisions: Decisions,
  eventFor: (version: Version) => Parameters<typeof decideStart>[1] | null,
): Story {
  const { decideStart } = decisions
  const stopped = { ...story, running: [] }
  const killed = story.versions.reduce((so, _, n) => {
    const version = toldAs(so, n + 1)
    return write(so, decideStart(version, { kind: 'crashed', at: 3, key: 'key' }))
  }, stopped as Story)
  const ready = killed.versions.reduce((so, _, n) => {
    const version = toldAs(so, n + 1)
    const event = eventFor(version)
    return event === null ? so : write(so, decideStart(version, event))
  }, killed)
  return judgedAnew(ready, decisions)
}

const placed = ({ versions }: Story) =>
  versions.map(({ feed, state }, n) => ({ id: n + 1, feed, state }))

/** toldAs returns a version as the decisions read it. */
function toldAs({ versions }: Story, id: number): Version {
  const { approved, date, feed, hasCopy, state } = versions[id - 1] as Told
  const spool = hasCopy ? `${id}.xml` : null
  return {
    id,
    state,
    approved,
    date,
    sha256: `bytes of ${id}`,
    account: null,
    spool,
    attempts: 1,
    feed,
    path: `${feed}.xml`,
  } as Version
}

/** write applies a decision as the history does, and throws `Broken` when it breaks a promise. */
function write(story: Story, transitions: readonly Transition[]): Story {
  const versions = [...story.versions]
  const change = (id: number, patch: Partial<Told>) => {
    versions[id - 1] = { ...(versions[id - 1] as Told), ...patch }
  }
  const move = (
    id: number,
    to: State,
    { patch = {}, isOlder = false }: { patch?: VersionPatch | undefined; isOlder?: boolean } = {},
  ) => {
    const before = versions[id - 1] as Told
    requireStep(before.state, to)
    if (to === 'uploading') requireSendable({ ...story, versions }, id)
    change(id, {
      ...{ state: to, approved: patch.approved ?? before.approved },
      hasCopy: patch.spool === undefined ? before.hasCopy : patch.spool !== null,
      wasHeld: before.wasHeld || to === 'held',
      isBeside: patch.guard === 'second-feed' || (before.isBeside && to === 'held'),
      isOlder: before.isOlder || isOlder,
      date: patch.date === undefined ? before.date : patch.date,
    })
  }
  // A version that a decision adds is the last one.
  const idOf = (id: Id) => (id === 'new' ? versions.length : id)
  for (const each of transitions) {
    if (each.kind === 'move')
      move(idOf(each.id), each.to, { patch: each.patch, isOlder: each.reason?.code === OLDER })
    else if (each.kind === 'supersede') move(each.id, 'superseded')
    else if (each.kind === 'attempt-end' && each.end.outcome === 'unknown')
      change(each.id, { isMaybeStored: true })
    else if (each.kind === 'set') {
      const { date, spool } = each.patch
      if (spool === null) change(idOf(each.id), { hasCopy: false })
      if (date !== undefined) change(idOf(each.id), { date })
    } else if (each.kind === 'add') {
      const { feed, patch, state } = each.version
      const hasCopy = (patch?.spool ?? null) !== null
      const date = patch?.date ?? null
      const rest = { hasCopy, date, wasHeld: false, isOlder: false, isBeside: false }
      versions.push({
        feed,
        isMaybeStored: false,
        state,
        approved: patch?.approved ?? false,
        ...rest,
      })
    }
  }
  return { ...story, versions }
}

function requireStep(from: State, to: State): void {
  if (NEXT_STATES[from].length === 0) throw new Broken(`no event leads out of ${from}`)
  if (!NEXT_STATES[from].includes(to)) throw new Broken(`there is no step from ${from} to ${to}`)
}

/** requireSendable throws `Broken` if a version, whose first byte may now leave, must not be sent. */
function requireSendable(story: Story, id: number): void {
  const { served, versions } = story
  const { approved, date, feed, hasCopy, wasHeld } = versions[id - 1] as Told
  const before = versions[(served[feed] ?? 0) - 1]?.date ?? null
  const isServed = (one: Told) =>
    one.feed !== feed && (one.isMaybeStored || ['uploading', 'uploaded'].includes(one.state))
  if (versions.some(isServed) && !story.keepsAll && !isKnown(story, feed))
    throw new Broken('no second feed of an account is sent without a word')
  if (!approved && date !== null && before !== null && date < before)
    throw new Broken('no older day is sent after a later one')
  const isOvertaken = versions.some(
    (one, n) =>
      n + 1 > id && one.feed === feed && ['queued', 'uploading', 'uploaded'].includes(one.state),
  )
  if (isOvertaken) throw new Broken('no version is sent after or beside a newer one')
  if (wasHeld && !approved) throw new Broken('a held version is sent only by the word of a person')
  if (!hasCopy) throw new Broken('a version is sent only with its copy')
  const isSending = (one: Told) => one.feed === feed && one.state === 'uploading'
  if (versions.some((one, n) => n + 1 !== id && isSending(one)))
    throw new Broken('one version of a feed is sent at a time')
}

/** requireNextEvents throws `Broken` if no event can come for an open version, which is then stuck. */
function requireNextEvents(story: Story): void {
  const { isPaused, running, versions } = story
  versions.forEach(({ feed, state }, n) => {
    const next = nextToSend({ ...story, isPaused: false }, feed)
    // A person decides about held and failed versions, and a pause ends. The others go on by themselves.
    const isRunning = running.some(({ id }) => id === n + 1)
    const isOfFeed = running.some(({ id }) => versions[id - 1]?.feed === feed)
    const isStuck =
      (state === 'uploading' && !isRunning) ||
      (state === 'queued' && !isPaused && !isOfFeed && next === null)
    if (isStuck) throw new Broken(`version ${n + 1} is ${state}, and nothing can happen to it`)
  })
}
