// Compares names of elements and attributes with the names that feeds commonly use.

export function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** folded removes case, `_` and `-`, so that `JobReference` and `job_reference` are equal. */
export function folded(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
