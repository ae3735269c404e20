// Checks a run of the soak after its end: no version is lost, stuck or wrong.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UploadReport } from '../../../src/ops/upload-report.ts'
import type { Site } from '../../helpers/site.ts'

/** Expected says what must become of the file that the last action left at a path. */
export type Expected =
  | { kind: 'whole'; sha256: string; postings: number }
  | { kind: 'broken'; sha256: string }
  | { kind: 'cut' }
  | { kind: 'nothing' }

export interface Played {
  site: Site
  afterUpload: 'keep' | 'archive' | 'delete'
  /** A feed that ends early is rejected within the run. */
  rejectsEarly: boolean
  /** feedOf returns the name of the feed at a path. */
  feedOf: (path: string) => string
  /** The expected result of the feed at each path. */
  expected: Map<string, Expected>
  /** The expected result of the last file that was put into the folder at each path. */
  inFolder: Map<string, Expected>
  /** The SHA-256 of every whole feed that was ever in the folder, with the number of its postings. */
  whole: Map<string, number>
  /** Ids of the versions that a person released. */
  released: Set<number>
  /** Ids of the versions that a person discarded. */
  discarded: Set<number>
  /** The host had a trouble, such as a jump of the clock, which might have ended a wait. */
  troubled: boolean
  /** The actions of the run, for a person who examines a failure. */
  trace: string[]
}

/** problemsOf returns a sentence for each thing that is lost, stuck or wrong. */
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

/** trailsOf describes the end of each version, for a person who examines a failure. */
export function trailsOf({ site }: Played): string[] {
  return site.uploads({ all: true }).map(({ id, feed, state, reason, sha256 }) => {
    const ends = site.show(id).attempts.map(({ outcome }) => outcome)
    return `${feed} ${id} ${state} (${reason}) ${sha256}, attempts: ${ends.join(', ') || 'none'}`
  })
}

function stuck(versions: UploadReport[]): string[] {
  const states = ['settling', 'checking', 'queued', 'uploading']
  // An older version that failed is not stuck, because a newer version replaced it.
  const isNewest = ({ feed, id }: UploadReport) =>
    !versions.some((other) => other.feed === feed && other.id > id)
  return versions
    .filter((version) => {
      const hasFailed = version.state === 'failed' && isNewest(version)
      return hasFailed || states.includes(version.state)
    })
    .map(({ id, feed, state, reason }) => `${feed} ${id} is ${state}: ${reason}`)
}

function wrongStates(played: Played): string[] {
  return [...played.expected].flatMap(([path, expected]) => {
    const feed = played.feedOf(path)
    const [newest] = played.site.uploads({ feed })
    if (isRight(played, newest, expected)) return []
    const is = `${newest?.id} ${newest?.state} ${newest?.sha256} ${newest?.reason}`
    return [`${path} should be ${JSON.stringify(expected)} and is ${is}`]
  })
}

function isRight(played: Played, newest: UploadReport | undefined, expected: Expected): boolean {
  const { site, released, discarded, rejectsEarly, troubled } = played
  const state = newest?.state
  switch (expected.kind) {
    case 'whole': {
      if (newest?.sha256 !== expected.sha256) return false
      // EntityTooLarge is final for a file until a person retries it.
      if (state === 'uploaded' || isTooLarge(newest)) return true
      if (state === 'discarded') return discarded.has(newest.id)
      // The guard compares with the larger version, whatever its state: storage can store a version and then refuse it.
      const larger = site
        .uploads({ feed: newest.feed, all: true })
        .some(({ postings }) => (postings ?? 0) >= 2 * expected.postings)
      return state === 'held' && larger && !released.has(newest.id)
    }
    case 'broken':
      return state === 'rejected' && newest?.sha256 === expected.sha256
    case 'cut':
      return state === 'incomplete' || ((rejectsEarly || troubled) && state === 'rejected')
    case 'nothing':
      return state !== 'incomplete'
    default:
      return expected satisfies never
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
    ...partial.map(({ key }) => `${key} is not a whole feed`),
    ...lost.map(({ feed, id }) => `${feed} ${id} is uploaded and not in the storage`),
    ...twice.map((hash) => `${hash} was stored more often than recorded`),
  ]
}

/** wrongOrder checks that the last version in storage is the last version that the history calls uploaded. */
function wrongOrder({ site, feedOf, expected }: Played, versions: UploadReport[]): string[] {
  const objects = site.sandbox.objects().toSorted((a, b) => a.receivedAt - b.receivedAt)
  return [...expected.keys()].flatMap((path) => {
    const own = versions.filter(({ feed }) => feed === feedOf(path))
    const hashes = new Set(own.map((version) => version.sha256))
    const last = objects.findLast((object) => hashes.has(object.sha256))
    const uploaded = own.findIndex(({ state }) => state === 'uploaded')
    // Storage can have a newer version, of which an attempt has an unknown result, and which was then refused or
    // superseded.
    const newer = own.slice(0, uploaded === -1 ? own.length : uploaded)
    const unknown = newer.filter(({ id }) =>
      site.show(id).attempts.some(({ outcome }) => outcome === 'unknown'),
    )
    const allowed = [own[uploaded], ...unknown].map((version) => version?.sha256)
    return last === undefined || allowed.includes(last.sha256)
      ? []
      : [`storage has ${last.sha256} of ${path} last, not ${own[uploaded]?.sha256}`]
  })
}

/** lostFiles checks that each file that left the folder is in another folder or in storage. */
function lostFiles({ site, inFolder, afterUpload }: Played): string[] {
  const names = readdirSync(site.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/spool'))
    .map((entry) => join(entry.parentPath, entry.name))
  const half = names.filter((name) => name.endsWith('.taken') || name.endsWith('.receipt.tmp'))
  const present = new Set(names.map((name) => hashOf(readFileSync(name))))
  const stored = new Set(site.sandbox.objects().map((object) => object.sha256))
  const lost = [...inFolder].filter(([, expected]) => {
    if (expected.kind !== 'whole' && expected.kind !== 'broken') return false
    if (present.has(expected.sha256)) return false
    // With delete, a superseded file is deleted together with its successor.
    return !(afterUpload === 'delete' && stored.size > 0)
  })
  return [
    ...half.map((name) => `${name} was left half done`),
    ...lost.map(([path]) => `the file at ${path} is gone`),
  ]
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
