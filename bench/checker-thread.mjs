// Checks files in a worker with the same limits as the daemon's: whole, as `feedsyncd check` does it, or bare,
// the same pieces through the same check without the hashes. Plain JavaScript on the compiled program, as
// it is installed: Node's type stripping would slow down every typed array of the thread.

import { parentPort } from 'node:worker_threads'
import { readFeed } from '../dist/feed/feed-reader.js'
import { PostingReader } from '../dist/feed/posting-reader.js'
import { PostingTally } from '../dist/feed/posting-tally.js'
import { openSource } from '../dist/feed/source-file.js'
import { DocumentChecker } from '../dist/xml/document-checker.js'
import { LIMITS } from '../dist/xml/limits.js'

const PIECE = 65_536
const mapping = { records: null, fields: {} }

parentPort?.on('message', async ({ file, hashes }) => {
  parentPort?.postMessage(hashes ? await whole(file) : bare(file))
})

async function whole(source) {
  const result = await readFeed({ source, expected: null, copyTo: null, indexTo: null, mapping })
  return result.kind === 'read' && result.verdict.kind === 'ok' ? null : JSON.stringify(result)
}

function bare(source) {
  const opened = openSource(source)
  if (opened.kind === 'unreadable') return opened.reason
  const tally = new PostingTally(false)
  const take = (values, content) => tally.add(values, content)
  // Contents are hashed for the index, which only a copy has.
  const check = new DocumentChecker(new PostingReader(mapping, take, { hashed: false }), LIMITS)
  for (const piece of opened.file.pieces(PIECE)) check.write(piece)
  opened.file.close()
  const { kind } = check.end()
  return kind === 'complete' && tally.finish().postings > 0 ? null : `it is ${kind}`
}
