// Shortens what all names of a list share, so that the part that differs can be seen.

/** A shorter common part is not worth a sign. */
const LEAST_SHARED = 4

/** sharedFolder returns the folders that all names begin with, and their last slash; empty if they share too little. */
export function sharedFolder(names: readonly string[]): string {
  const [first = '', ...others] = names
  if (others.length === 0) return ''
  let shared = first.slice(0, first.lastIndexOf('/') + 1)
  for (const name of others)
    while (!name.startsWith(shared))
      shared = shared.slice(0, shared.lastIndexOf('/', shared.length - 2) + 1)
  return shared.length < LEAST_SHARED ? '' : shared
}

/** withoutShared writes `customers/acme/jobs.xml` as `…/acme/jobs.xml` if `customers/` is shared. */
export function withoutShared(name: string, shared: string): string {
  return shared === '' ? name : `…/${name.slice(shared.length)}`
}
