// What the reading of a feed finds out about its postings, so that they can be compared and read again.

/**
 * SurveyTaker receives the survey of a well-formed feed. `mostPostings` limits the entries that are kept for the
 * survey.
 */
export interface SurveyTaker {
  mostPostings: number
  /** Folded paths (names.ts) of ids that are not tried, because the postings of another version share these ids. */
  passOver: ReadonlySet<string> | null
  take(survey: Survey): void
}

/** Survey is what the reading of a feed found out about its postings. */
export interface Survey {
  /** Full path of the postings; null if the feed has no posting. */
  records: string | null
  postings: number
  /** The hashes of all postings (entries.ts); null if the feed has more than `mostPostings` postings. */
  entries: Int32Array | null
  /** Folded paths (names.ts) of ids that were not tried, because postings share these ids. */
  excludedIds: ReadonlySet<string> | null
  /**
   * True if ids identify the postings. Otherwise their content does, because the postings share an id at every path.
   */
  hasOwnIds: boolean
}
