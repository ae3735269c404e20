// Finds which postings differ between two versions of a feed. The first reading of both versions keeps only hashes,
// which say which postings were added, removed or changed (posting-matches.ts). The second reading takes the fields of
// these postings.

import { crc32 } from 'node:zlib'
import {
  type ChangedPosting,
  GROUPS,
  type NamedPostings,
  type PostingName,
} from '../domain/difference.ts'
import { Spill } from '../lib/spill.ts'
import { wordsByContent } from './entries.ts'
import { readFeed } from './feed-reader.ts'
import { FIELDS, type Field } from './field-paths.ts'
import { GroupCounts } from './group-counts.ts'
import { withoutPrefix } from './names.ts'
import type { DifferenceJob, DifferenceResult, DifferenceSide } from './port.ts'
import { changesOf, type Matches, matchPostings, NONE, SAME } from './posting-matches.ts'
import type { Wanted } from './posting-reader.ts'
import { type Posting, type PostingSource, readPostings } from './posting-stream.ts'
import type { Survey, SurveyTaker } from './survey.ts'

/** DifferenceTaker receives the first postings of each kind, at most `mostNamed` of a kind. */
export interface DifferenceTaker {
  added(posting: PostingName): void
  removed(posting: PostingName): void
  changed(posting: ChangedPosting): void
}

const NAMES = ['id', 'title', 'city', 'externalCampaignId'] as const satisfies Field[]
const NOTHING: Wanted = { fields: [], hasParts: false }
const GROUPED: Wanted = { fields: GROUPS, hasParts: false }
const NAMED: Wanted = { fields: [...NAMES, 'state'], hasParts: false }
const WHOLE: Wanted = { fields: FIELDS, hasParts: true }

/** collected returns a taker that keeps the postings in lists. */
export function collected(): { named: NamedPostings; taker: DifferenceTaker } {
  const named: NamedPostings = { added: [], removed: [], changed: [] }
  const taker = {
    added: (posting: PostingName) => void named.added.push(posting),
    removed: (posting: PostingName) => void named.removed.push(posting),
    changed: (posting: ChangedPosting) => void named.changed.push(posting),
  }
  return { named, taker }
}

/** feedDifference compares two files. Rejects with `FeedsyncError` (78) for a wrong field path. */
export async function feedDifference(
  job: DifferenceJob,
  taker: DifferenceTaker,
): Promise<DifferenceResult> {
  const surveys = await surveyBoth(job)
  if ('kind' in surveys) return surveys
  const { newer, older } = surveys
  const postings = { older: older.postings, newer: newer.postings }
  if (older.entries === null) return { kind: 'too-many', side: 'older', postings: postings.older }
  if (newer.entries === null) return { kind: 'too-many', side: 'newer', postings: postings.newer }
  const hasOwnIds = older.hasOwnIds && newer.hasOwnIds
  const identified = hasOwnIds ? (entries: Int32Array) => entries : wordsByContent
  const matches = matchPostings(identified(older.entries), identified(newer.entries))
  using second = new SecondReading(matches, job.mostNamed, taker)
  const readAgain = (side: DifferenceSide, survey: Surveyed, reading: ReadSide) =>
    readPostings(
      sourceOf(side, survey),
      (posting) => reading.take(hasOwnIds ? posting : withoutId(posting)),
      { wanted: reading.wanted },
    )
  const olderReason = await readAgain(job.older, older, second.older)
  if (olderReason !== null) return { kind: 'unread', side: 'older', reason: olderReason }
  const newerReason = await readAgain(job.newer, newer, second.newer)
  if (newerReason !== null) return { kind: 'unread', side: 'newer', reason: newerReason }
  const changes = changesOf(matches)
  const totals = { ...changes, unchanged: postings.newer - changes.added - changes.changed }
  return { kind: 'compared', difference: { totals, by: second.by(), postings } }
}

type Surveyed = Survey & { encoding: string | null }

/** surveyBoth reads both files. It returns their surveys, or the result that says which of them cannot be read. */
async function surveyBoth(
  job: DifferenceJob,
): Promise<{ older: Surveyed; newer: Surveyed } | DifferenceResult> {
  const asked = { mostPostings: job.mostPostings, passOver: null }
  let older = await surveyed(job.older, asked)
  if ('reason' in older) return { kind: 'unread', side: 'older', ...older }
  const newer = await surveyed(job.newer, { ...asked, passOver: older.excludedIds })
  if ('reason' in newer) return { kind: 'unread', side: 'newer', ...newer }
  // An older version with few postings does not show that postings share an id, but the newer version can show it.
  if ((newer.excludedIds?.size ?? 0) > (older.excludedIds?.size ?? 0))
    older = await surveyed(job.older, { ...asked, passOver: newer.excludedIds })
  if ('reason' in older) return { kind: 'unread', side: 'older', ...older }
  return { older, newer }
}

/** surveyed reads a file from its first to its last byte, and returns its survey or why it cannot be compared. */
async function surveyed(
  { file, mapping, sha256 }: DifferenceSide,
  asked: Omit<SurveyTaker, 'take'>,
): Promise<Surveyed | { reason: string }> {
  const found: Survey[] = []
  const job = { source: file, expected: null, copyTo: null, indexTo: null, mapping }
  const read = await readFeed(job, {
    survey: { ...asked, take: (survey) => void found.push(survey) },
    hashes: sha256 === null ? 'none' : 'inline',
  })
  if (read.kind === 'changed') return { reason: 'it changed while it was read' }
  if (read.kind !== 'read') return { reason: read.reason }
  const { encoding, verdict } = read
  if (verdict.kind !== 'ok') {
    const { position, reason } = verdict
    const place = position === null ? '' : `line ${position.line}, column ${position.column}: `
    return { reason: `${verdict.kind}: ${place}${reason}` }
  }
  if (sha256 !== null && read.sha256 !== sha256)
    return { reason: 'its bytes in the spool are damaged' }
  const [survey] = found
  if (survey === undefined) throw new Error('a well-formed feed has a survey')
  return { ...survey, encoding }
}

interface ReadSide {
  wanted: (n: number) => Wanted
  take: (posting: Posting) => void
}

function sourceOf(
  { file, mapping }: DifferenceSide,
  { encoding, excludedIds, records }: Surveyed,
): PostingSource {
  return { file, encoding, records, paths: mapping.fields, excludedIds }
}

/** withoutId removes the id from a posting, because other postings share this id, and returns the posting. */
function withoutId(posting: Posting): Posting {
  delete posting.values.id
  return posting
}

/** SecondReading takes the fields of the postings that differ. The older feed must be read before the newer feed. */
class SecondReading implements Disposable {
  readonly #matches: Matches
  readonly #mostNamed: number
  readonly #taker: DifferenceTaker
  readonly #counts = new GroupCounts()
  readonly #named = { added: 0, removed: 0 }
  /** #lastChanged is the number, in the newer feed, of the last changed posting that is named; -1 if none is named. */
  readonly #lastChanged: number
  /** #before has the states of the changed postings in the older feed. */
  readonly #before = new Spill()
  /** `#at[n]` and `#length[n]` are the place in `#before` of the older state of posting n in the newer feed. */
  readonly #at: Float64Array
  readonly #length: Uint32Array

  constructor(matches: Matches, mostNamed: number, taker: DifferenceTaker) {
    this.#matches = matches
    this.#mostNamed = mostNamed
    this.#taker = taker
    this.#lastChanged = lastChanged(matches.newer, mostNamed)
    this.#at = new Float64Array(this.#lastChanged + 1)
    this.#length = new Uint32Array(this.#lastChanged + 1)
  }

  readonly older: ReadSide = {
    wanted: (n) => {
      const partner = this.#matches.older[n] as number
      if (partner === NONE) return NAMED
      return this.#isNamed(partner) ? WHOLE : NOTHING
    },
    take: (posting) => {
      const partner = this.#matches.older[posting.n] as number
      if (partner === NONE) {
        this.#counts.removed(posting.values)
        if (this.#named.removed++ < this.#mostNamed) this.#taker.removed(nameOf(posting))
      } else if (this.#isNamed(partner)) {
        const { at, length } = this.#before.append(JSON.stringify(stateOf(posting)))
        this.#at[partner] = at
        this.#length[partner] = length
      }
    },
  }

  readonly newer: ReadSide = {
    wanted: (n) => {
      const partner = this.#matches.newer[n] as number
      if (partner === NONE) return NAMED
      return partner !== SAME && n <= this.#lastChanged ? WHOLE : GROUPED
    },
    take: (posting) => {
      const { n, values } = posting
      const partner = this.#matches.newer[n] as number
      if (partner === NONE) {
        this.#counts.added(values)
        if (this.#named.added++ < this.#mostNamed) this.#taker.added(nameOf(posting))
      }
      this.#counts.left(values)
      const length = this.#length[n] ?? 0
      const isNamedChange = length > 0
      if (!isNamedChange) return
      const before = JSON.parse(
        this.#before.read({ at: this.#at[n] as number, length }),
      ) as PostingState
      const { id, title } = nameOf(posting)
      this.#taker.changed({ id, title, fields: differing(before, stateOf(posting)) })
    },
  }

  /**
   * #isNamed returns true if a posting of the older feed has changed and is named. `partner` is its number in the newer
   * feed, or SAME.
   */
  #isNamed(partner: number): boolean {
    return partner !== SAME && partner <= this.#lastChanged
  }

  by() {
    return this.#counts.by
  }

  [Symbol.dispose](): void {
    this.#before[Symbol.dispose]()
  }
}

/** lastChanged returns the number of the last of the first `most` changed postings; -1 if no posting has changed. */
function lastChanged(partners: Int32Array, most: number): number {
  let [last, found] = [-1, 0]
  for (let n = 0; n < partners.length && found < most; n++) {
    if (partners[n] === NONE || partners[n] === SAME) continue
    found++
    last = n
  }
  return last
}

function nameOf({ values }: Posting): PostingName {
  const { city = null, externalCampaignId = null, id = null, title = null } = values
  return { id, title, city, externalCampaignId }
}

/**
 * PostingState has what is compared of a changed posting: the CRC-32 and path of each field, and the hash of each part.
 */
interface PostingState {
  fields: [field: Field, hash: number, path: string][]
  parts: [name: string, hash: number][]
}

function stateOf({ parts, pathOf, values }: Posting): PostingState {
  const found = Object.entries(values) as [Field, string][]
  return {
    fields: found.map(([field, value]) => [field, crc32(value), pathOf(field)]),
    parts: parts.entries(),
  }
}

/** differing names the fields whose values differ, then the parts that differ although no field in them differs. */
function differing(before: PostingState, now: PostingState): string[] {
  const values = (state: PostingState) =>
    new Map(state.fields.map(([field, hash]) => [field, hash]))
  const [oldValues, newValues] = [values(before), values(now)]
  const fields = FIELDS.filter((field) => oldValues.get(field) !== newValues.get(field))
  const explained = new Set(
    [...before.fields, ...now.fields].flatMap(([field, , path]) =>
      fields.includes(field) ? partOf(path) : [],
    ),
  )
  const hashes = (state: PostingState) => new Map(state.parts)
  const [oldParts, newParts] = [hashes(before), hashes(now)]
  const parts = [...new Set([...oldParts.keys(), ...newParts.keys()])]
  const differs = (name: string) => oldParts.get(name) !== newParts.get(name)
  return [
    ...fields,
    ...parts.filter((name) => differs(name) && !explained.has(withoutPrefix(name))),
  ]
}

/** partOf returns the name of the part at the beginning of a path: `location` for `location/city`. */
function partOf(path: string): string {
  return withoutPrefix(path.replace(/[/[].*$/s, ''))
}
