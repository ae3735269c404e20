// Why a path is where it is: the first thing that decides, in the order in which the daemon looks.

import type { Ignored, Refusal, Sighting } from '../inbox/port.ts'
import type { HistoryReader } from './port.ts'
import { type UploadReport, uploadReport } from './report.ts'

export interface Explanation {
  path: string
  feed: string
  /** The version that this path was last found to be, if any. */
  upload: UploadReport | null
  /** A plain sentence. */
  because: string
  /** What to do, if anything. */
  next: string | null
}

export interface Evidence {
  path: string
  feed: string
  ignored: Ignored | null
  /** What is at the path now; null: nothing. */
  look: Sighting | Refusal | null
  /** null: no daemon has ever run here. */
  history: HistoryReader | null
  running: boolean
}

export function explain(evidence: Evidence): Explanation {
  const { path, feed, history } = evidence
  const known = history?.known(path) ?? null
  const id = known?.versionId ?? openVersion(evidence)
  const version = id === null ? null : (history?.version(id) ?? null)
  const upload = version === null ? null : uploadReport(version)
  return { path, feed, upload, ...because(evidence, upload) }
}

/** A path that settles is not known yet, but it has a version in the making. */
function openVersion({ path, feed, history }: Evidence): number | null {
  const newest = history?.newest(feed)
  return newest?.path === path ? newest.id : null
}

function because({ ignored, look, running }: Evidence, upload: UploadReport | null) {
  if (ignored !== null) return ignoredBecause(ignored)
  if (look !== null && 'reason' in look)
    return { because: look.reason, next: 'put a regular file in its place' }
  if (look === null && upload === null) {
    return {
      because: 'there is no such file, and none was seen before',
      next: 'check the path; it is relative to the inbox',
    }
  }
  if (upload === null) {
    return running
      ? { because: 'it is not noticed yet', next: 'it is at the next scan of the folder' }
      : { because: 'no daemon has noticed it', next: 'start the daemon: feedsyncd run' }
  }
  const gone = look === null ? 'the file is not in the folder any more; ' : ''
  const state = `it is ${upload.state} as version ${upload.id}`
  return {
    because: `${gone}${state}${upload.reason === null ? '' : `: ${upload.reason}`}`,
    next: upload.hint,
  }
}

function ignoredBecause(ignored: Ignored): { because: string; next: string } {
  switch (ignored.rule) {
    case 'temporary-name':
      return {
        because: `its name marks it as unfinished (${ignored.pattern})`,
        next: 'its writer renames it when it is done; rename it yourself if it never will',
      }
    case 'excluded':
      return {
        because: `inbox.exclude leaves it out (${ignored.pattern})`,
        next: 'change inbox.exclude if it is a feed',
      }
    case 'not-included':
      return { because: 'no pattern of inbox.include matches it', next: 'add one if it is a feed' }
    default:
      return ignored satisfies never
  }
}
