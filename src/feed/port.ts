// The interface for reading a feed: one call that copies, checks, hashes and counts a file in one pass, and the
// values that it returns.

import type { Difference, DifferenceSummary, PostingChanges } from '../domain/difference.ts'
import type { FieldPaths, Mapping } from '../domain/mapping.ts'
import type { FileIdentity } from '../lib/files.ts'
import type { Position } from '../xml/locator.ts'

export interface CheckJob {
  /** Absolute path of the file to read. A symlink is never followed. */
  source: string
  /**
   * Absolute path of a folder above the file. No link below this folder is followed. The default is the file's folder.
   */
  root?: string | undefined
  /** Descriptor of the file, if another user had to open the file. The caller closes the descriptor. */
  opened?: number | undefined
  /** Identity of the settled file; null accepts any file. */
  expected: FileIdentity | null
  /**
   * The file changes all the time, so it is read as it is. The result is `changed` only if a second read of the same
   * descriptor finds other bytes.
   */
  isRestless?: boolean | undefined
  /**
   * Absolute path of a new file for the copy, which is durable before the result. Null means that the file is only
   * checked. Then the reader looks for all fields in the first postings, and not only for the counted fields.
   */
  copyTo: string | null
  /** Absolute path of a new file for the posting index, which `compare` reads; null means that no index is written. */
  indexTo: string | null
  mapping: Mapping
}

export interface FeedContent {
  /** Name of the root element as written. */
  root: string
  /** Full path of the record element (`/source/job`), or null if the feed has no posting. */
  records: string | null
  postings: number
  withoutId: number
  /** Postings that repeat the id of an earlier one or, without ids, its content. Null means unknown. */
  duplicates: number | null
  /**
   * An example of the placeholders (`{{ job.title }}`) that stand for most ids or titles of the first postings. Null
   * means the feed is not an unfilled template.
   */
  placeholder: string | null
  /** External campaign id -> number of its postings. At most `MAX_CAMPAIGN_IDS` ids. */
  externalCampaignIds: Record<string, number>
  /** The number of distinct requisition ids. */
  requisitionIds: number
  /** Sentences for the vendor, for example about missing ids, a byte order mark or an unusual encoding. */
  warnings: string[]
}

/**
 * FoundPaths has the path from the record to each field, as the feed spells it; null means no posting has the field.
 */
export type FoundPaths = Record<keyof FieldPaths, string | null>

/** RunnerUp is the path that was nearly chosen as the path of the postings. */
export interface RunnerUp {
  /** Full path (`/jobs/category`). */
  records: string
  /** The number of elements at that path; null means that only a sample of them was counted. */
  postings: number | null
}

export type Verdict =
  | {
      kind: 'ok'
      content: FeedContent
      fields: FoundPaths
      /** Null if the choice of the record path was clear, or if the record path is configured. */
      runnerUp: RunnerUp | null
    }
  /** The document ends early, is empty, or ends in NUL padding: its writer might not have finished. */
  | { kind: 'incomplete'; reason: string; position: Position | null }
  /** `code` is short and stable (`not-well-formed`, `html`, ...); `reason` is a sentence without the position. */
  | { kind: 'broken'; code: string; reason: string; position: Position | null }

export type CheckResult =
  | {
      kind: 'read'
      /** The copy and the index exist only if the verdict is `ok`. */
      verdict: Verdict
      /**
       * Null if the reader asked for no hashes, or if the file was not read to its end: it is mostly holes, ends in too
       * many NUL bytes, or cannot be unpacked.
       */
      sha256: string | null
      /** Null if the job asks for no copy, or if `sha256` is null. */
      md5: string | null
      bytes: number
      /** Encoding of the document (`UTF-8`, `UTF-16LE`, `windows-1252`); null means nothing was decoded. */
      encoding: string | null
    }
  /** The file is not the expected file, or changed while it was read. It must settle again. */
  | { kind: 'changed' }
  /**
   * The file cannot be opened or read. `code` is the system's error code (`EACCES`, `EIO`); null if the file is not a
   * regular file, or if its read hangs.
   */
  | { kind: 'unreadable'; code: string | null; reason: string; hint: string }
  /**
   * The copy or the index cannot be written. `code` is the system's error code (`ENOSPC`, `EROFS`). The feed itself can
   * be right or wrong.
   */
  | { kind: 'no-room'; code: string; reason: string; hint: string }

/** DifferenceSide is one of two files whose postings are compared. */
export interface DifferenceSide {
  /** Absolute path. */
  file: string
  mapping: Mapping
  /** The SHA-256 that the file must have, in hexadecimal; null accepts any file. */
  sha256: string | null
}

export interface DifferenceJob {
  older: DifferenceSide
  newer: DifferenceSide
  /** A version with more postings is not compared, because each posting takes about 40 bytes of memory. */
  mostPostings: number
  /** The most postings of each kind (added, removed, changed) that are named. */
  mostNamed: number
}

export type DifferenceResult =
  | { kind: 'compared'; difference: Difference }
  /** One side cannot be read or is not well-formed. `reason` is a sentence without the name of the file. */
  | { kind: 'unread'; side: 'older' | 'newer'; reason: string }
  | { kind: 'too-many'; side: 'older' | 'newer'; postings: number }

/** Comparison has the absolute paths of two posting indexes. */
export interface Comparison {
  older: string
  newer: string
}

export interface FeedReader {
  /** announce starts the thread, so that it runs when a file has settled. A running thread stays. */
  announce(): void
  /**
   * check reads a file in a worker thread. Whatever is wrong with the file is in the result. It rejects with the
   * signal's reason, or with `FeedsyncError` for a wrong field path and for a thread that did not start or ended. Jobs
   * start in the order of the calls.
   */
  check(job: CheckJob, signal?: AbortSignal): Promise<CheckResult>
  /**
   * compare counts the changes between two index files, in the worker thread. It returns null if an index is missing or
   * damaged, which a power cut can cause, if the ids of the two come from different fields, or if a read hangs. It
   * rejects like `check`.
   */
  compare(indexes: Comparison, signal?: AbortSignal): Promise<PostingChanges | null>
  /**
   * difference reads both files and sums up what differs, in the worker thread. It returns null if one of the files
   * cannot be compared, or if its read hangs. It rejects like `check`.
   */
  difference(job: DifferenceJob, signal?: AbortSignal): Promise<DifferenceSummary | null>
}

/**
 * Lane is `large` for a feed of many bytes, or of unknown size. No thread reads feeds of both lanes at the same time, so
 * that a large feed delays no small one.
 */
export type Lane = 'small' | 'large'

/** FeedChecker is a reader with a thread of its own. */
export type FeedChecker = FeedReader & AsyncDisposable

/** CheckerFor returns the reader for a feed of this size. `bytes` is null if the size is not known. */
export type CheckerFor = (bytes: number | null) => FeedReader

/** MAX_CAMPAIGN_IDS limits the distinct campaign ids that are counted; a warning reports the rest. */
export const MAX_CAMPAIGN_IDS = 10_000
