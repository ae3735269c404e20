// Names are bytes, and paths are text. A name that is not valid UTF-8 is shown with its odd bytes escaped
// (`caf%E9.xml`), as another file may really be called: its path has a part that no other path has, and says
// which bytes are meant.

/** The path of the file that is shown at `path`: `acme/./caf%E9.xml` of `acme/caf%E9.xml`. */
export function nonUtf8Path(path: string): string {
  return path.replace(/[^/]*$/, './$&')
}

/** `caf\xE9.xml` is `caf%E9.xml`: the runs that are valid UTF-8 stay, and `%` is `%25`. */
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

/** null: it is not valid UTF-8. */
export function asUtf8(bytes: Buffer): string | null {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : null
}
