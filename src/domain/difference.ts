// What differs between two versions of a feed, as it is counted, kept and shown.

/** PostingChanges counts the differences between two versions of a feed, in postings. */
export interface PostingChanges {
  added: number
  removed: number
  /** Postings in both versions whose content differs. */
  changed: number
}

/** PostingName has the fields by which a person recognises a posting. A field that the posting lacks is null. */
export interface PostingName {
  id: string | null
  title: string | null
  city: string | null
  externalCampaignId: string | null
}

/** ChangedPosting is a posting that both versions have. */
export interface ChangedPosting {
  id: string | null
  /** The title in the newer version. */
  title: string | null
  /**
   * The fields whose values differ, and the names of other parts of the posting that are written differently. The list
   * is empty if only comments, or white space between the parts, differ.
   */
  fields: string[]
}

/** GROUPS are the fields by which added and removed postings are counted. */
export const GROUPS = ['externalCampaignId', 'state', 'city'] as const
export type Group = (typeof GROUPS)[number]

/** GroupCount counts the postings of one value of a group. */
export interface GroupCount {
  added: number
  removed: number
  /** The postings of the newer version with this value. */
  left: number
}

/** Difference is what differs between two versions of a feed. */
export interface Difference {
  totals: PostingChanges & { unchanged: number }
  /** The values of added and removed postings; at most `MAX_GROUP_VALUES` of each group. */
  by: Record<Group, Map<string, GroupCount>>
  /** Postings of each version. */
  postings: { older: number; newer: number }
}

/**
 * NamedPostings are the first postings of a difference: removed postings in the order of the older version, added and
 * changed postings in the order of the newer version.
 */
export interface NamedPostings {
  added: PostingName[]
  removed: PostingName[]
  changed: ChangedPosting[]
}

/** GroupSummary has the values of a group with the most removed and added postings, the most first. */
export interface GroupSummary {
  values: {
    value: string
    added: number
    removed: number
    /** The newer version has no posting with this value. */
    isGone: boolean
  }[]
  /** The number of values that removed and added postings have, also values that `values` leaves out. */
  count: number
  /** Number of the values that only the older version has. */
  gone: number
}

/** DifferenceSummary is a difference as people read it. The history keeps it with a held version. */
export interface DifferenceSummary extends Pick<Difference, 'postings' | 'totals'> {
  by: Record<Group, GroupSummary>
  /** The first postings of each kind, 10 at most. */
  named: NamedPostings
}

/** MAX_GROUP_VALUES limits the values of one group that a difference counts. */
export const MAX_GROUP_VALUES = 10_000
/** MOST_SUMMED is how many values of each group, and how many postings of each kind, a summary has. */
export const MOST_SUMMED = 10
