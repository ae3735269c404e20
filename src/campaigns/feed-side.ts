// Reads the feeds of the campaigns' account: their last uploads, and the postings in them.

import { join } from 'node:path'
import { type Config, historyFile } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import type { FieldPaths } from '../domain/mapping.ts'
import { streamPostings } from '../feed/posting-stream.ts'
import type { HistoryReader, Version } from '../history/port.ts'
import { openHistoryReader } from '../history/tables.ts'
import { keepsAll } from '../pipeline/account-facts.ts'
import { absencesOf, latestUploads } from './feed-uploads.ts'
import type { FeedSide, FeedUpload, PostingsWanted } from './port.ts'

/** feedSideOf returns the uploads of the campaigns' account, as the history knows them now. */
export function feedSideOf(config: Config): FeedSide {
  const { identity } = config.service
  const isOurs = ({ account }: Version) =>
    !('partner' in identity) || account === null || account === identity.partnerAccount
  const read = <T>(work: (history: HistoryReader) => T, none: T): T => {
    using history = openHistoryReader({ file: historyFile(config) })
    return history === null ? none : work(history)
  }
  const latest = read((history) => latestUploads(history, isOurs), [])
  const keepsAllFeeds = () => read((history) => keepsAll(config.guards, history, null), false)
  const feeds = latest.map(({ feed }) => feed)
  let missingSince: FeedSide['missingSince'] | null = null
  return {
    latest,
    isAtMost: latest.length > 1 && !keepsAllFeeds(),
    missingSince: (id) => {
      missingSince ??= read<FeedSide['missingSince']>(
        (history) => absencesOf(history, feeds),
        () => null,
      )
      return missingSince(id)
    },
    read: async (wanted, signal) => {
      const problems: string[] = []
      for (const upload of latest) {
        const problem = await readPostings({ config, upload, ...wanted }, signal)
        if (problem !== null) problems.push(`${upload.feed}: ${problem}`)
      }
      return problems
    },
  }
}

/** Uploading the same bytes again makes no new version, so the advice is to wait for the next one. */
const UNTIL_NEXT = 'its postings count again once its next version is uploaded'

/**
 * readPostings passes each posting of an upload to `take`. It returns one sentence if it cannot read the upload, or if
 * a `needed` field is empty in every posting; else null.
 */
async function readPostings(
  { config, upload, fields, needed, take }: { config: Config; upload: FeedUpload } & PostingsWanted,
  signal: AbortSignal,
): Promise<string | null> {
  const { feeds, state } = config
  const { encoding, feed, path, records, spool } = upload
  if (spool === null) return `its copy was removed; ${UNTIL_NEXT}`
  const paths = feedFor(path, feeds, feed).mapping.fields
  const missing = new Set(needed.filter((field) => field !== 'externalCampaignId'))
  let postings = 0
  const see = (values: FieldPaths) => {
    postings++
    for (const field of missing) if (values[field]) missing.delete(field)
    take(values)
  }
  const source = { file: join(state.directory, 'spool', spool), encoding, records, paths }
  const problem = await streamPostings(source, see, { fields, signal })
  if (problem !== null) return `${problem}; ${UNTIL_NEXT}`
  // A field that no posting has is probably not mapped.
  if (postings === 0 || missing.size === 0) return null
  return `no posting has ${[...missing].join(', ')}; map it under feeds[].fields, then: systemctl restart feedsyncd`
}
