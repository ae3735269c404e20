// File names are bytes, and paths are text. A name that is not valid UTF-8 is shown with its invalid bytes escaped:
// `caf%E9.xml`. Another file can really have that name, so the path of the escaped one contains `/./`, which no other
// path contains.

/** nonUtf8Path marks the path of an escaped name: `acme/caf%E9.xml` becomes `acme/./caf%E9.xml`. */
export function nonUtf8Path(path: string): string {
  return path.replace(/[^/]*$/, './$&')
}

/** escapedName writes `caf\xE9.xml` as `caf%E9.xml`. Valid UTF-8 stays as it is, and `%` becomes `%25`. */
export function escapedName(name: Buffer): string {
  return name
    .toString('latin1')
    .replaceAll('%', '%25')
    .replace(/[\x80-\xFF]+/g, (run) => {
      const bytes = Buffer.from(run, 'latin1')
      return (
        asUtf8(bytes) ?? [...bytes].map((byte) => `%${byte.toString(16).toUpperCase()}`).join('')
      )
    })
}

/** asUtf8 returns the text of the bytes; null if they are not valid UTF-8. */
export function asUtf8(bytes: Buffer): string | null {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : null
}
