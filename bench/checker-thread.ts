// Checks files in a worker with the same limits as the daemon's: whole, as `readFeed` does it, or bare,
// the same pieces through the same check without the hashes.

import { parentPort } from 'node:worker_threads'
import { readFeed } from '../src/feed/feed-reader.ts'
import { PostingReader } from '../src/feed/posting-reader.ts'
import { PostingTally } from '../src/feed/posting-tally.ts'
import { openSource } from '../src/feed/source-file.ts'
import { DocumentChecker } from '../src/xml/document-checker.ts'
import { LIMITS } from '../src/xml/limits.ts'

export interface CheckerRequest {
  file: string
  hashes: boolean
}

/** What was wrong, or null. */
export type CheckerAnswer = string | null

const PIECE = 65_536
const mapping = { records: null, fields: {} }

parentPort?.on('message', ({ file, hashes }: CheckerRequest) => {
  const answer: CheckerAnswer = hashes ? whole(file) : bare(file)
  parentPort?.postMessage(answer)
})

function whole(source: string): CheckerAnswer {
  const result = readFeed({ source, expected: null, copyTo: null, indexTo: null, mapping })
  return result.kind === 'read' && result.verdict.kind === 'ok' ? null : JSON.stringify(result)
}

function bare(source: string): CheckerAnswer {
  const opened = openSource(source)
  if (opened.kind === 'unreadable') return opened.reason
  const tally = new PostingTally()
  const reader = new PostingReader(mapping, (values, content) => tally.add(values, content))
  const check = new DocumentChecker(reader, LIMITS)
  for (const piece of opened.file.pieces(PIECE)) check.write(piece)
  opened.file.close()
  const { kind } = check.end()
  return kind === 'complete' && tally.finish().postings > 0 ? null : `it is ${kind}`
}
