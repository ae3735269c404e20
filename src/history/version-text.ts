import { formatBytes } from '../lib/units.ts'
import type { Version } from './port.ts'

/** A version in a sentence, for the log: `jobs.xml uploaded: 40 postings, 114 KiB`. */
export function sentenceOf({ bytes, feed, postings, reason, state }: Version): string {
  const facts = postings === null ? null : `${postingsText(postings)}, ${formatBytes(bytes ?? 0)}`
  const told = state === 'uploaded' ? facts : reason
  return told === null ? `${feed} ${state}` : `${feed} ${state}: ${told}`
}

/** `1 posting`. */
export const postingsText = (postings: number | null) =>
  `${postings} posting${postings === 1 ? '' : 's'}`
