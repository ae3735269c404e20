// Dates in file names: exports such as jobs-2026-11-22.xml are versions of one feed, in the order of their dates. Pure.

export const DATE = '{date}'
/** One date: with the same separator twice, or with none. */
const DAY = /(?<!\d)(20\d\d)([-_]?)(\d\d)\2(\d\d)(?!\d)/g
/** The time that may follow a date. */
const TIME = /^[T_-]([01]\d|2[0-3])(?:([0-5]\d)([0-5]\d)?|-([0-5]\d)(?:-([0-5]\d))?)(?!\d)/

/** datedName returns `path` with `{date}` for the last date in its name, and that date as `YYYYMMDDHHMMSS` or null. */
export function datedName(path: string): { name: string; date: string | null } {
  const start = path.lastIndexOf('/') + 1
  const file = path.slice(start)
  const last = [...file.matchAll(DAY)].filter(isReal).at(-1)
  if (last === undefined) return { name: path, date: null }
  const [day, year = '', , month = '', dayOfMonth = ''] = last
  const rest = file.slice(last.index + day.length)
  const [time = '', hour = '', ...parts] = TIME.exec(rest) ?? []
  return {
    name: path.slice(0, start) + file.slice(0, last.index) + DATE + rest.slice(time.length),
    date: (year + month + dayOfMonth + hour + parts.join('')).padEnd(14, '0'),
  }
}

function isReal([, year, , month, day]: RegExpExecArray): boolean {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

/** isDated returns whether the files of a feed differ by the dates in their names. */
export const isDated = (feed: string): boolean => feed.includes(DATE)

/** DatedFile is a file of a dated feed. `modifiedAt`: wall ms of its last change; null: not known. */
export interface DatedFile {
  path: string
  modifiedAt: number | null
}

/** isOlder returns whether `file` is older than `other` of its feed: by the dates in the names, then by last change. */
export function isOlder(feed: string, file: DatedFile, other: DatedFile): boolean {
  if (!isDated(feed)) return false
  const [own, its] = [datedName(file.path).date, datedName(other.path).date]
  if (own === null || its === null) return false
  if (own !== its) return own < its
  return file.modifiedAt !== null && other.modifiedAt !== null && file.modifiedAt < other.modifiedAt
}
