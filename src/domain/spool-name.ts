// The names of the copies in the spool: `12-1000-9f86d081884c7d65.xml` is the copy of version 12 with 1,000 postings,
// of the feed with this hash. When the history is lost, the names still say how many postings each feed had.

import { hash } from 'node:crypto'

export interface SpoolCopy {
  /** Id of the version. */
  id: number
  feed: string
  postings: number
}

const NAME = /^(\d+)-(\d+)-([0-9a-f]{16})\.xml$/

export function copyName({ feed, id, postings }: SpoolCopy): string {
  return `${id}-${postings}-${feedHash(feed)}.xml`
}

/** parseCopyName returns null for a file that is not a finished copy. */
export function parseCopyName(
  name: string,
): { id: number; postings: number; feedHash: string } | null {
  const [, id, postings, feedHash] = NAME.exec(name) ?? []
  return feedHash === undefined ? null : { id: Number(id), postings: Number(postings), feedHash }
}

export function feedHash(feed: string): string {
  return hash('sha256', feed).slice(0, 16)
}
