// What the rest of the program knows of reading a feed: one call that copies, checks, hashes and
// counts a file in one pass, and the values that it answers with.

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
  /** Full path of the record element (`/source/job`), or null to detect it. */
  records: string | null
  /** Fields that are named replace the detected ones; the others stay detected. */
  fields: FieldPaths
}

/** What makes two looks at a path the same file with the same bytes, as far as stat can tell. */
export interface FileIdentity {
  dev: string
  ino: string
  size: number
  mtimeNs: string
  ctimeNs: string
}

export interface CheckJob {
  /** Absolute path of the file to read. Never followed when it is a symlink. */
  source: string
  /** The identity seen when the file had settled, or null to take it as it is. */
  expected: FileIdentity | null
  /** Absolute path of a new file that receives the bytes, fsynced before the answer; null: check only. */
  copyTo: string | null
  mapping: Mapping
}

export interface Position {
  /** Bytes from the start of the file. */
  offset: number
  /** Counted from 1. */
  line: number
  /** Characters (code points), counted from 1. */
  column: number
}

/** What a well-formed feed contains. */
export interface FeedContent {
  /** Name of the root element as written. */
  root: string
  /** Full path of the record element (`/source/job`), or null when there is no posting. */
  records: string | null
  postings: number
  /** External campaign id -> number of postings that carry it. At most `MAX_CAMPAIGN_IDS` distinct. */
  externalCampaignIds: Record<string, number>
  /** Distinct requisition ids. */
  requisitionIds: number
  /** Plain sentences: duplicate or missing posting ids, a BOM, an odd encoding. */
  warnings: string[]
}

export type Verdict =
  | { kind: 'ok'; content: FeedContent }
  /** The document ends early, is empty, or ends in NUL padding: the writer may not be done. */
  | { kind: 'incomplete'; reason: string; position: Position }
  /** `code` is stable and short (`not-well-formed`, `doctype-refused`, `undecodable`, `gzip`, `html`, `too-deep`, ...); `reason` is a plain sentence without the position. */
  | { kind: 'broken'; code: string; reason: string; position: Position | null }

export type CheckResult =
  | {
      kind: 'read'
      verdict: Verdict
      sha256: string
      md5: string
      bytes: number
      /** Name of the encoding that was used to decode (`UTF-8`, `UTF-16LE`, `windows-1252`). */
      encoding: string
      /** The postings, for comparing with another version; null unless the verdict is `ok`. */
      postings: PostingIndex | null
    }
  /** The file is not the one expected, or changed while it was read: settle again. */
  | { kind: 'changed' }
  /** The file could not be opened or read: `code` is the system's (`EACCES`, `ENOENT`, `EIO`). */
  | { kind: 'unreadable'; code: string; reason: string }
  /** The copy could not be written: `code` is the system's (`ENOSPC`, `EROFS`). The file itself may be fine. */
  | { kind: 'no-room'; code: string; reason: string }

/** One entry a posting, sorted by id hash: enough to count what was added, removed or changed. */
export interface PostingIndex {
  /** 64-bit hash of the posting's id (or of its content where it has none). */
  ids: BigUint64Array
  /** 32-bit hash of the posting's content, in the order of `ids`. */
  contents: Uint32Array
}

export interface FeedChecker extends AsyncDisposable {
  /**
   * Reads a file once, in a worker thread. Never throws for what is in the file.
   * Jobs are taken in order; an aborted one rejects with the signal's reason.
   */
  check(job: CheckJob, signal?: AbortSignal): Promise<CheckResult>
}

/** More distinct campaign ids than this are not told apart (a warning says so). */
export const MAX_CAMPAIGN_IDS = 10_000
