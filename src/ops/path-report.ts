// Why a path is where it is: the first thing that decides, in the order in which the daemon looks.

import type { Files, KnownFile, Pauses } from '../history/port.ts'
import { isBlocked } from '../history/reason-codes.ts'
import { UNREAD } from '../history/states.ts'
import type { Ignored, Sighting, Skipped } from '../inbox/port.ts'
import { sameIdentity } from '../lib/files.ts'
import { formatDuration } from '../lib/units.ts'
import { type Reported, type UploadReport, uploadReports } from './report.ts'

export interface PathReport {
  path: string
  feed: string
  /** The version that this path was last found to be, or is becoming, if any. */
  upload: UploadReport | null
  /** A plain sentence. */
  because: string
  /** What to do; null where that follows from the state of `upload`. */
  next: string | null
}

export interface Evidence {
  path: string
  feed: string
  ignored: Ignored | null
  /** What is at the path now; null: nothing. */
  look: Sighting | Skipped | null
  /** null: no daemon has ever run here. */
  history: (Reported & Pick<Files, 'known'> & Pick<Pauses, 'pauses'>) | null
  running: boolean
  quietPeriodMs: number
  /** Wall ms. */
  now: number
}

/** null: there is nothing at the path, and there never was. */
export function pathReport(evidence: Evidence): PathReport | null {
  const { path, feed, history, look } = evidence
  const known = history?.known(path) ?? null
  const id = Math.max(known?.versionId ?? 0, latestVersion(evidence) ?? 0)
  const version = history?.version(id) ?? null
  const upload =
    history && version && uploadReports(history, undefined, history.pauses(evidence.now))(version)
  if (look === null && upload === null && !isOutside(path)) return null
  return { path, feed, upload, ...because(evidence, known, upload) }
}

/** A path that settles is not known yet, and one that we moved is not any more: both have a version. */
function latestVersion({ path, feed, history }: Evidence): number | null {
  const open = history?.list({ feed, states: UNREAD, all: true }) ?? []
  const last = history?.list({ feed, all: true, limit: MOST_VERSIONS }) ?? []
  return [...last, ...open].find((version) => version.path === path)?.id ?? null
}

/** Versions of a feed among which that of a file is found that has left the folder. */
const MOST_VERSIONS = 100

/** The inbox itself, or what lies outside of it: neither `look` nor `ignored` speaks of these. */
const isOutside = (path: string) => path === '.' || path.startsWith('/')

type Because = Pick<PathReport, 'because' | 'next'>

function because(
  evidence: Evidence,
  known: KnownFile | null,
  upload: UploadReport | null,
): Because {
  const { ignored, look, path, running } = evidence
  if (path === '.') return { because: 'it is the inbox', next: 'name a file in it' }
  if (path.startsWith('/') && upload === null) {
    return {
      because: 'it lies outside the inbox, and it was never uploaded from there',
      next: 'drop it into the inbox, or: feedsyncd upload FILE --feed NAME',
    }
  }
  // What an unlucky name stands for matters more than the name, unless the name was left out on purpose.
  const isByPattern = ignored === null || ignored.rule === 'not-included'
  if (look !== null && 'reason' in look && isByPattern) {
    const reason = look.path === path ? look.reason : `it lies below ${look.path}: ${look.reason}`
    return { because: reason + versionText(upload), next: look.hint }
  }
  if (ignored !== null) {
    const [because, next] = ignoredBecause(ignored, path)
    return { because: because + versionText(upload), next }
  }
  if (upload !== null) return { because: versionBecause(evidence, known, upload), next: null }
  return running
    ? { because: 'it is new', next: 'the next scan of the folder finds it' }
    : { because: 'no daemon is running', next: 'systemctl start feedsyncd, or: feedsyncd run' }
}

/** Of a file that is read no more. */
const versionText = (upload: UploadReport | null): string =>
  upload === null ? '' : `; version ${upload.id} of it is ${upload.state}`

function versionBecause(evidence: Evidence, known: KnownFile | null, upload: UploadReport): string {
  const { look, now, path, quietPeriodMs } = evidence
  const { id, reason, state } = upload
  const said = reason === null ? '' : `: ${reason}`
  const isElsewhere = upload.path !== path
  const is = isElsewhere
    ? `it holds the same bytes as version ${id}, found at ${upload.path}, which is ${state}${said}`
    : `it is ${state} as version ${id}${said}`
  if (path.startsWith('/')) return is
  if (look === null || 'reason' in look)
    return `there is no file of this name in the folder now; ${is}`
  const quiet = `it is read once it was left alone for ${formatDuration(quietPeriodMs)} (inbox.quietPeriod)`
  const changedAt = Number(BigInt(look.identity.ctimeNs) / 1_000_000n)
  const changed = `it last changed ${formatDuration(Math.max(0, now - changedAt))} ago`
  // What is blocked waits for something else first.
  if (state === 'settling') return isBlocked(upload) ? is : `${is}: ${changed}, and ${quiet}`
  const hasChanged = known !== null && !sameIdentity(known.identity, look.identity)
  return hasChanged ? `${is}; ${changed}: ${quiet}` : is
}

const ARCHIVE = /\.(7z|bz2|gz|rar|tar|tgz|xz|zip)$/i

function ignoredBecause(ignored: Ignored, path: string): [because: string, next: string] {
  switch (ignored.rule) {
    case 'temporary-name':
      return [
        `its name marks it as unfinished (${ignored.pattern})`,
        'its writer renames it when it is done; rename it yourself if it never will',
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
