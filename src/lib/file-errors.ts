// What an error at a file of somebody else says about that file: the one table for every place that
// looks at, opens or reads it.

/** Stays until somebody changes the file, its permissions or what is in its place. */
const LASTING: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'ELOOP', // a link where the file should be
  'EISDIR',
  'ENAMETOOLONG',
])

/**
 * False for an error of the moment (EIO, ESTALE, ETIMEDOUT, EMFILE, ENFILE, ENOMEM, or one that is not
 * known): the file may be fine, and is read again.
 */
export function isLasting(code: string): boolean {
  return LASTING.has(code)
}

/** This user may not read it; another one, or one of other groups, might. */
export function isForbidden(code: string | null): boolean {
  return code === 'EACCES' || code === 'EPERM'
}

/** There is nothing at the path any more, or a part of it is no directory of the folder any more. */
export function isMissing(code: string | null): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR'
}
