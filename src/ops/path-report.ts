// Explains the state of a path in the inbox. The first rule that applies gives the reason, in the daemon's order.

import { commandFor, hintWith } from '../domain/command.ts'
import { blockOf } from '../domain/reason-codes.ts'
import { UNREAD } from '../domain/states.ts'
import type { HistoryReader, KnownFile, MovedFile } from '../history/port.ts'
import type { Ignored, Sighting, Skipped } from '../inbox/port.ts'
import { changedAt, sameIdentity } from '../lib/files.ts'
import { formatDuration } from '../lib/units.ts'
import { type UploadReport, uploadReports } from './upload-report.ts'
import type { Circumstances } from './version-report.ts'

export interface PathReport extends Because {
  path: string
  feed: string
  /** The version that the file at this path became or will become; null if no version is known for it. */
  upload: UploadReport | null
}

interface PathEvidence {
  path: string
  feed: string
  ignored: Ignored | null
  /** What is at the path now; null if nothing is there. */
  found: Sighting | Skipped | null
  /** null if no daemon has ever run here. */
  history: HistoryReader | null
  running: boolean
  quietPeriodMs: number
  circumstances: Circumstances
  /** Wall ms. */
  now: number
}

/** pathReport explains a path; null if nothing is at the path and nothing ever was. */
export function pathReport(evidence: PathEvidence): PathReport | null {
  const { path, feed, history, circumstances, found } = evidence
  const known = history?.known(path) ?? null
  const moved = known === null ? (history?.movedFile(path) ?? null) : null
  const id = Math.max((known ?? moved)?.versionId ?? 0, latestVersionId(evidence) ?? 0)
  const version = history?.version(id) ?? null
  const upload = history && version && uploadReports(history, circumstances)(version)
  if (found === null && upload === null && !isOutside(path)) return null
  const gone = moved?.versionId === id ? moved : null
  return { path, feed, upload, ...because(evidence, { known, moved: gone }, upload) }
}

/**
 * latestVersionId returns the id of the newest version from this path; null if no unread version of the feed, and none
 * of its last 100 versions, is from this path. A path that is settling, or whose file was moved away, has a version but
 * no known file.
 */
function latestVersionId({ path, feed, history }: PathEvidence): number | null {
  const open = history?.list({ feed, states: UNREAD, all: true }) ?? []
  const last = history?.list({ feed, all: true, limit: MOST_VERSIONS }) ?? []
  return [...last, ...open].find((version) => version.path === path)?.id ?? null
}

/** How many versions of a feed are searched for a path. */
const MOST_VERSIONS = 100

/**
 * isOutside returns true for the inbox itself and for paths outside of it: `found` and `ignored` say nothing about
 * them.
 */
const isOutside = (path: string) => path === '.' || path.startsWith('/')

/** LastFile is the last file at the path, and what became of it if the daemon moved or deleted it. */
interface LastFile {
  known: KnownFile | null
  moved: MovedFile | null
}

interface Because {
  /** The reason as a plain sentence. */
  because: string
  /** What to do; null if `upload` has the next step. */
  next: string | null
}

/** because returns the reason of the first rule that applies to the path, and what to do. */
function because(evidence: PathEvidence, past: LastFile, upload: UploadReport | null): Because {
  const { ignored, found, path, running } = evidence
  if (path === '.') return { because: 'it is the inbox', next: 'name a file in it' }
  if (path.startsWith('/') && upload === null) {
    return {
      because: 'it is outside the inbox and was never uploaded from there',
      next: 'drop it into the inbox, or upload it with --feed and the name of its feed',
    }
  }
  // A skipped path is more important than a name that no pattern includes, but not than a name excluded on purpose.
  const isByPattern = ignored === null || ignored.rule === 'not-included'
  if (found !== null && 'reason' in found && isByPattern) {
    const reason = found.path === path ? found.reason : `it is below ${found.path}: ${found.reason}`
    return { because: reason + versionText(upload), next: found.hint }
  }
  if (ignored !== null) {
    const [because, next] = ignoredBecause(ignored, path)
    return { because: because + versionText(upload), next }
  }
  if (upload !== null) return { because: versionBecause(evidence, past, upload), next: null }
  return running
    ? { because: 'it is new', next: 'the next scan of the folder finds it' }
    : {
        because: 'no daemon is running',
        next: hintWith('to see how to start it', commandFor('status')),
      }
}

/** versionText names the version that an ignored or skipped file still has. */
const versionText = (upload: UploadReport | null): string =>
  upload === null ? '' : `; its version ${upload.id} is ${upload.state}`

const MOVED = { archive: 'archived', delete: 'deleted', quarantine: 'moved into the quarantine' }

function versionBecause(
  evidence: PathEvidence,
  { known, moved }: LastFile,
  upload: UploadReport,
): string {
  const { found, now, path, quietPeriodMs } = evidence
  const { id, reason, state } = upload
  const said = reason === null ? '' : `: ${reason}`
  const isElsewhere = upload.path !== path
  const is = isElsewhere
    ? `it has the same bytes as version ${id} (${upload.path}), which is ${state}${said}`
    : `its version ${id} is ${state}${said}`
  if (path.startsWith('/')) return is
  if (found === null || 'reason' in found) {
    const missing = 'the folder has no file of this name now'
    return `${moved === null ? missing : `it was ${MOVED[moved.disposition]}`}; ${is}`
  }
  const quiet = `it is read after it has not changed for ${formatDuration(quietPeriodMs)} (inbox.quietPeriod)`
  const at = changedAt(found.identity)
  const changed =
    at === null
      ? 'its file system does not know when it last changed'
      : `it last changed ${formatDuration(Math.max(0, now - at))} ago`
  // The reason of a blocked version already says what it waits for.
  if (state === 'settling') return blockOf(upload) !== null ? is : `${is}: ${changed}, and ${quiet}`
  const hasChanged = known !== null && !sameIdentity(known.identity, found.identity)
  return hasChanged ? `${is}; ${changed}: ${quiet}` : is
}

const ARCHIVE = /\.(7z|bz2|gz|rar|tar|tgz|xz|zip)$/i

function ignoredBecause(ignored: Ignored, path: string): [because: string, next: string] {
  switch (ignored.rule) {
    case 'temporary-name':
      return [
        `its name marks it as unfinished (${ignored.pattern})`,
        'wait until its writer renames it, or rename it yourself',
      ]
    case 'excluded':
      return [
        `inbox.exclude leaves it out (${ignored.pattern})`,
        'change inbox.exclude if it is a feed',
      ]
    case 'not-included':
      return [
        `no pattern of inbox.include matches it (${ignored.patterns.join(', ')})`,
        ARCHIVE.test(path)
          ? 'unpack it, and drop the XML'
          : 'rename it, or add a pattern, if it is a feed',
      ]
    case 'receipt':
      return ['it is a receipt that feedsyncd wrote', 'read it']
    default:
      return ignored satisfies never
  }
}
