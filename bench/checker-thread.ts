// Checks files in a worker with the limits of the daemon's worker: whole, as `feedsyncd check` does, or bare, without
// the hashes. This file is bundled like the installed program, because Node's type stripping would slow down all typed
// arrays of the thread.

import { parentPort } from 'node:worker_threads'
import { readFeed } from '../src/feed/feed-reader.ts'
import { hashInMain } from '../src/feed/hash-follower.ts'
import { PostingReader, type TakePosting } from '../src/feed/posting-reader.ts'
import { PostingTally } from '../src/feed/posting-tally.ts'
import { openSource } from '../src/feed/source-file.ts'
import { DocumentChecker } from '../src/xml/document-checker.ts'
import { LIMITS } from '../src/xml/limits.ts'
import type { CheckerAnswer, CheckerRequest } from './check-alone.ts'

const PIECE_BYTES = 65_536
const mapping = { encoding: null, records: null, fields: {} }

parentPort?.on('message', async ({ answerTo, file, hashes }: CheckerRequest) => {
  answerTo.postMessage(hashes ? await whole(file) : bare(file))
})

async function whole(source: string): Promise<CheckerAnswer> {
  const job = { source, expected: null, copyTo: null, indexTo: null, mapping }
  const result = await readFeed(job, { follow: hashInMain })
  return result.kind === 'read' && result.verdict.kind === 'ok' ? null : JSON.stringify(result)
}

function bare(source: string): CheckerAnswer {
  using opened = openSource(source)
  const tally = new PostingTally({ hashesContent: false })
  const take: TakePosting = (values, content) => tally.add(values, content)
  // Only the posting index needs hashes of the contents, and only a copy has an index.
  const check = new DocumentChecker(
    new PostingReader(mapping, take, { hashesContent: false }),
    LIMITS,
  )
  for (const piece of opened.pieces(PIECE_BYTES)) check.write(piece)
  const { kind } = check.end()
  return kind === 'complete' && tally.finish().postings > 0 ? null : `it is ${kind}`
}
