// How the names of elements and attributes are compared with those that feeds are known to use.

export function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Without case, `_` and `-`: `JobReference` and `job_reference` are one. */
export function folded(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
