// What must hold when a run of the soak has come to rest: nothing lost, nothing stuck, nothing wrong.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UploadReport } from '../../../src/ops/report.ts'
import type { Site } from '../../helpers/site.ts'

/** What the last thing that happened to a path asks for. */
export type Left =
  | { kind: 'whole'; sha256: string; postings: number }
  | { kind: 'broken'; sha256: string }
  | { kind: 'cut' }
  | { kind: 'nothing' }

export interface Played {
  site: Site
  afterUpload: 'keep' | 'archive' | 'delete'
  /** What ends early is rejected within the run. */
  rejectsEarly: boolean
  feedOf: (path: string) => string
  /** By path: what its feed should have come to. */
  left: Map<string, Left>
  /** By path: what was last put into the folder. */
  standing: Map<string, Left>
  /** Every whole feed that ever stood in the folder: hash to postings. */
  whole: Map<string, number>
  released: Set<number>
  discarded: Set<number>
  /** The host had trouble of its own: a jump of the clock may have ended a wait. */
  troubled: boolean
  /** What was done, for whoever looks into a failure. */
  trace: string[]
}

export function problemsOf(played: Played): string[] {
  const versions = played.site.uploads({ all: true })
  return [
    ...stuck(versions),
    ...wrongStates(played),
    ...wrongAttempts(played, versions),
    ...wrongObjects(played, versions),
    ...wrongOrder(played, versions),
    ...lostFiles(played),
  ]
}

/** What became of each version, for whoever looks into a failure. */
export function trailsOf({ site }: Played): string[] {
  return site.uploads({ all: true }).map(({ id, feed, state, reason, sha256 }) => {
    const ends = site.show(id).attempts.map(({ outcome }) => outcome)
    return `${feed} ${id} ${state} (${reason}) ${sha256}, attempts: ${ends.join(', ') || 'none'}`
  })
}

function stuck(versions: UploadReport[]): string[] {
  const states = ['settling', 'checking', 'queued', 'uploading']
  // An older one that failed is at rest: a newer one has taken its place.
  const isNewest = ({ feed, id }: UploadReport) =>
    !versions.some((other) => other.feed === feed && other.id > id)
  return versions
    .filter((one) => states.includes(one.state) || (one.state === 'failed' && isNewest(one)))
    .map(({ id, feed, state, reason }) => `${feed} ${id} is ${state}: ${reason}`)
}

function wrongStates(played: Played): string[] {
  return [...played.left].flatMap(([path, left]) => {
    const feed = played.feedOf(path)
    const [newest] = played.site.uploads({ feed })
    if (isRight(played, newest, left)) return []
    const is = `${newest?.id} ${newest?.state} ${newest?.sha256} ${newest?.reason}`
    return [`${path} should be ${JSON.stringify(left)} and is ${is}`]
  })
}

function isRight(played: Played, newest: UploadReport | undefined, left: Left): boolean {
  const { site, released, discarded, rejectsEarly, troubled } = played
  const state = newest?.state
  switch (left.kind) {
    case 'whole': {
      if (newest?.sha256 !== left.sha256) return false
      // EntityTooLarge is a verdict on the file, which stands until a person retries it.
      if (state === 'uploaded' || isTooLarge(newest)) return true
      if (state === 'discarded') return discarded.has(newest.id)
      // Also beside one whose attempt may have been stored before storage refused it.
      const larger = site
        .uploads({ feed: newest.feed, all: true })
        .some(({ postings }) => (postings ?? 0) >= 2 * left.postings)
      return state === 'held' && larger && !released.has(newest.id)
    }
    case 'broken':
      return state === 'rejected' && newest?.sha256 === left.sha256
    case 'cut':
      return state === 'incomplete' || ((rejectsEarly || troubled) && state === 'rejected')
    case 'nothing':
      return state !== 'incomplete'
    default:
      return left satisfies never
  }
}

const isTooLarge = ({ state, reason }: UploadReport) =>
  state === 'failed' && reason?.includes('EntityTooLarge') === true

function wrongAttempts({ site }: Played, versions: UploadReport[]): string[] {
  return versions.flatMap(({ id, feed, state }) => {
    const { attempts } = site.show(id)
    const open = attempts.filter(({ endedAt, outcome }) => endedAt === null || outcome === null)
    const stored = attempts.filter(({ outcome }) => outcome === 'stored').length
    return [
      ...open.map(({ n }) => `attempt ${n} of ${feed} ${id} never ended`),
      ...(stored === (state === 'uploaded' ? 1 : 0)
        ? []
        : [`${feed} ${id} is ${state} with ${stored} stored attempts`]),
    ]
  })
}

function wrongObjects({ site, whole }: Played, versions: UploadReport[]): string[] {
  const objects = site.sandbox.objects()
  const stored = new Set(objects.map((object) => object.sha256))
  const partial = objects.filter((object) => !whole.has(object.sha256))
  const lost = versions.filter(
    ({ state, sha256: hash }) => state === 'uploaded' && !stored.has(hash ?? ''),
  )
  const twice = [...stored].filter((hash) => {
    const same = versions.filter((version) => version.sha256 === hash)
    const unknown = same.flatMap(({ id }) =>
      site.show(id).attempts.filter(({ outcome }) => outcome === 'unknown'),
    )
    const knowingly = same.filter(({ state }) => state === 'uploaded').length
    return objects.filter((object) => object.sha256 === hash).length > knowingly + unknown.length
  })
  return [
    ...partial.map(({ key }) => `${key} is no whole feed`),
    ...lost.map(({ feed, id }) => `${feed} ${id} is uploaded and not in the storage`),
    ...twice.map((hash) => `${hash} was stored more often than recorded`),
  ]
}

/** Newest wins: what storage received last of a feed is what the history calls uploaded last. */
function wrongOrder({ site, feedOf, left }: Played, versions: UploadReport[]): string[] {
  const objects = site.sandbox.objects().toSorted((a, b) => a.receivedAt - b.receivedAt)
  return [...left.keys()].flatMap((path) => {
    const own = versions.filter(({ feed }) => feed === feedOf(path))
    const hashes = new Set(own.map((version) => version.sha256))
    const last = objects.findLast((object) => hashes.has(object.sha256))
    const uploaded = own.findIndex(({ state }) => state === 'uploaded')
    // A newer one may be there already: its attempt's end is unknown, and it was refused or overtaken since.
    const newer = own.slice(0, uploaded === -1 ? own.length : uploaded)
    const unknown = newer.filter(({ id }) =>
      site.show(id).attempts.some(({ outcome }) => outcome === 'unknown'),
    )
    const isRight = [own[uploaded], ...unknown].some((one) => one?.sha256 === last?.sha256)
    return isRight || last === undefined
      ? []
      : [`storage has ${last.sha256} of ${path} last, not ${own[uploaded]?.sha256}`]
  })
}

/** Files may only leave the folder with a place of their own, or a copy in storage. */
function lostFiles({ site, standing, afterUpload }: Played): string[] {
  const names = readdirSync(site.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/spool'))
    .map((entry) => join(entry.parentPath, entry.name))
  const half = names.filter((name) => name.endsWith('.taken') || name.endsWith('.receipt.tmp'))
  const present = new Set(names.map((name) => hashOf(readFileSync(name))))
  const stored = new Set(site.sandbox.objects().map((object) => object.sha256))
  const lost = [...standing].filter(([, left]) => {
    if (left.kind !== 'whole' && left.kind !== 'broken') return false
    if (present.has(left.sha256)) return false
    // With delete, what was superseded goes with the version that took its place.
    return !(afterUpload === 'delete' && stored.size > 0)
  })
  return [
    ...half.map((name) => `${name} was left half done`),
    ...lost.map(([path]) => `the file at ${path} is gone`),
  ]
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
