// What the reading of a feed finds out about its postings, so that they can be compared and read again.

/** SurveyTaker gets the survey of a well-formed feed. `mostPostings` limits the entries that are kept for it. */
export interface SurveyTaker {
  mostPostings: number
  /** Folded paths of ids that are not tried, because the postings of another version share them. */
  passOver: ReadonlySet<string> | null
  take(survey: Survey): void
}

/** Survey is what the reading of a feed found out about its postings. */
export interface Survey {
  /** Full path of the postings; null if there is none. */
  records: string | null
  postings: number
  /** The hashes of all postings (entries.ts); null if there are more than `mostPostings`. */
  entries: Int32Array | null
  /** Folded paths of ids that the postings share, so that they are passed over. */
  excludedIds: ReadonlySet<string> | null
  /** hasOwnIds: postings are known by their ids; else by their content, because they share the ids of all paths. */
  hasOwnIds: boolean
}
