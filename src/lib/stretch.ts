// Small copies share a file of the spool. The path of one then says which stretch of the file it is:
// `<file>#<first byte>+<bytes>`, without the bytes where it tells its own length. Never asked about a name
// that the vendor gave.

export interface Stretch {
  file: string
  from: number
  /** null: to the end of the file, or as far as it says itself. */
  bytes: number | null
}

export function stretchOf(path: string): Stretch {
  const [, file = path, from = '0', bytes = ''] = /^(.*)#(\d+)\+(\d*)$/s.exec(path) ?? []
  return { file, from: Number(from), bytes: bytes === '' ? null : Number(bytes) }
}

export function stretch(file: string, from: number, bytes: number | null): string {
  return `${file}#${from}+${bytes ?? ''}`
}
