// What the rest of the program knows of reading a feed: one call that copies, checks, hashes and
// counts a file in one pass, and the values that it answers with.

import type { FileIdentity } from '../lib/files.ts'
import type { Position } from '../xml/locator.ts'

export type { FileIdentity, Position }

/** A path from the record element: `referencenumber`, `location/city`, `@id`, `.../value`; see docs of `feeds[].fields`. */
export interface FieldPaths {
  id?: string
  externalCampaignId?: string
  requisitionId?: string
  title?: string
  city?: string
  state?: string
  postalCode?: string
  description?: string
}

export interface Mapping {
  /** Of the document, in place of what it declares; null: as it declares. */
  encoding: string | null
  /** Full path of the record element (`/source/job`), or null to detect it. */
  records: string | null
  /** Fields that are named replace the detected ones; the others stay detected. */
  fields: FieldPaths
}

export interface CheckJob {
  /** Absolute path of the file to read. Never followed when it is a symlink. */
  source: string
  /** Absolute path of the folder that it was found in: below this no link is followed. Absent: the file's own directory. */
  root?: string | undefined
  /** Its descriptor, where a user who could read it has opened it; whoever did so closes it. */
  opened?: number | undefined
  /** The identity seen when the file had settled, or null to take it as it is. */
  expected: FileIdentity | null
  /**
   * Absolute path of a new file that receives the bytes, fsynced before the answer. Null: check only; then all fields of
   * the first postings are looked for, and not only those that are counted.
   */
  copyTo: string | null
  /** Absolute path of a new file that receives the posting index, for `compare`; null: none is written. */
  indexTo: string | null
  mapping: Mapping
}

/** What a well-formed feed contains. */
export interface FeedContent {
  /** Name of the root element as written. */
  root: string
  /** Full path of the record element (`/source/job`), or null when there is no posting. */
  records: string | null
  postings: number
  /** Postings without an id. */
  withoutId: number
  /** Postings with the id of another one; where there is no id, with its content. Null: not known. */
  duplicates: number | null
  /** External campaign id -> number of postings that carry it. At most `MAX_CAMPAIGN_IDS` distinct. */
  externalCampaignIds: Record<string, number>
  /** Distinct requisition ids. */
  requisitionIds: number
  /** Plain sentences: duplicate or missing posting ids, a BOM, an odd encoding. */
  warnings: string[]
}

/** The path that each field was found at, from the record and as the feed writes it; null: at none. */
export type FoundPaths = Record<keyof FieldPaths, string | null>

export type Verdict =
  | { kind: 'ok'; content: FeedContent; fields: FoundPaths }
  /** The document ends early, is empty, or ends in NUL padding: the writer may not be done. */
  | { kind: 'incomplete'; reason: string; position: Position | null }
  /** `code` is stable and short (`not-well-formed`, `doctype-refused`, `undecodable`, `gzip`, `gzip-corrupt`, `html`, `too-deep`, ...); `reason` is a plain sentence without the position. */
  | { kind: 'broken'; code: string; reason: string; position: Position | null }

export type CheckResult =
  | {
      kind: 'read'
      /** Copy and index are there only if it is `ok`. */
      verdict: Verdict
      /** Null: not all bytes were read, since the file is mostly holes or ends in too many NUL bytes. */
      sha256: string | null
      /** Null where no copy was asked for. */
      md5: string | null
      bytes: number
      /** Name of the encoding that was used to decode (`UTF-8`, `UTF-16LE`, `windows-1252`); null: nothing was. */
      encoding: string | null
    }
  /** The file is not the one expected, or changed while it was read: settle again. */
  | { kind: 'changed' }
  /** The file could not be opened or read: `code` is the system's (`EACCES`, `ENOENT`, `EIO`); null: it is no regular file. */
  | { kind: 'unreadable'; code: string | null; reason: string; hint: string }
  /** The copy or the index could not be written: `code` is the system's (`ENOSPC`, `EROFS`). The file itself may be fine. */
  | { kind: 'no-room'; code: string; reason: string }

/** What held a version back; see guards.ts. `history-lost`: nothing is known that it could be compared with. */
export type GuardName =
  | 'empty'
  | 'min-postings'
  | 'shape'
  | 'drop'
  | 'missing-ids'
  | 'duplicate-ids'
  | 'shrink'
  | 'replaced'
  | 'history-lost'

/** What is different between two versions of a feed, in postings. */
export interface PostingChanges {
  added: number
  removed: number
  /** Postings that both versions have, with other content. */
  changed: number
}

/** Absolute paths of two posting indexes. */
export interface Comparison {
  older: string
  newer: string
}

export interface FeedChecker extends AsyncDisposable {
  /** A file of so many bytes was seen, and will be checked once it has settled: its threads start meanwhile. */
  announce(bytes: number): void
  /**
   * Reads a file once, in a worker thread. Never throws for what is in the file.
   * Jobs are taken in order; an aborted one rejects with the signal's reason.
   */
  check(job: CheckJob, signal?: AbortSignal): Promise<CheckResult>
  /**
   * Compares two index files, in the same thread. Null where one of them is not there or not whole: they
   * are not durable. Rejects with the signal's reason.
   */
  compare(indexes: Comparison, signal?: AbortSignal): Promise<PostingChanges | null>
}

/** More distinct campaign ids than this are not told apart (a warning says so). */
export const MAX_CAMPAIGN_IDS = 10_000
