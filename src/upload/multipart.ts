// Owns the bytes of the upload request: every field once, byte for byte and in the order given, nothing
// added, the file last. Framed by hand: FormData was measured to hold the whole file in
// memory, to rewrite line ends in fields and to count sizes above 4 GiB wrong.

import { randomInt } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { getDefaultHighWaterMark } from 'node:stream'
import { readWhole } from '../lib/read-whole.ts'
import type { UploadForm } from '../service/port.ts'

/** Fixed and ASCII: storage puts the name in place of "${filename}" in any field. */
export const FILE_NAME = 'feed.xml'

/** Measured: larger reads gain nothing, smaller ones cost calls. */
const READ_SIZE = 256 * 1024

/**
 * A socket that is given at least this much at once asks for the next piece only when the system has
 * taken all of it, so the buffer of the piece before the last is free. New buffers for every piece were
 * measured: 60 MB more at 200 MB, since they are garbage faster than it is collected.
 */
const SOCKET_BUFFER = getDefaultHighWaterMark(false)

export interface MultipartBody {
  contentType: string
  /** Of the whole request body, exactly. */
  length: number
  /** In front of the file. */
  headLength: number
  chunks(): AsyncGenerator<Buffer>
}

export interface MultipartFile {
  /** Open for reading. A descriptor is read in one piece and in this thread, a handle bit by bit. */
  opened: FileHandle | number
  bytes: number
}

/** `pace` is awaited with the size of each piece of the file before that piece is handed out. */
export function createMultipartBody(
  form: UploadForm,
  file: MultipartFile,
  pace?: { readSize: number; wait(bytes: number): Promise<void> },
): MultipartBody {
  const boundary = randomBoundary()
  const head = Buffer.from(
    [
      ...form.fields.map(
        ([name, value]) =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
      ),
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${FILE_NAME}"\r\n`,
      'Content-Type: application/xml\r\n\r\n',
    ].join(''),
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: head.length + file.bytes + tail.length,
    headLength: head.length,
    async *chunks() {
      const { opened } = file
      if (typeof opened === 'number') {
        yield inOnePiece(opened, file, head, tail)
        return
      }
      yield head
      yield* read(opened, file, Math.min(READ_SIZE, pace?.readSize ?? READ_SIZE), pace?.wait)
      yield tail
    },
  }
}

/** One buffer, and so one write. Short of the announced size, as below, where the file is. */
function inOnePiece(
  descriptor: number,
  { bytes }: MultipartFile,
  head: Buffer,
  tail: Buffer,
): Buffer {
  const all = Buffer.allocUnsafe(head.length + bytes + tail.length)
  head.copy(all)
  const end = head.length + readWhole(descriptor, all, head.length, bytes, 0)
  if (end < head.length + bytes) return all.subarray(0, end)
  tail.copy(all, end)
  return all
}

/** Bounded by the size that was announced. A file that ends early ends the stream early, which fails the request. */
async function* read(
  handle: FileHandle,
  { bytes }: MultipartFile,
  readSize: number,
  wait: (bytes: number) => Promise<void> = async () => {},
): AsyncGenerator<Buffer> {
  const buffers = [0, 1].map(() => Buffer.allocUnsafeSlow(Math.min(readSize, bytes)))
  for (let at = 0, n = 0; at < bytes; n++) {
    const buffer = (readSize < SOCKET_BUFFER ? undefined : buffers[n % 2]) ?? Buffer.alloc(readSize)
    const { bytesRead } = await handle.read(buffer, 0, Math.min(readSize, bytes - at), at)
    if (bytesRead === 0) return
    await wait(bytesRead)
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** 190 random bits: it occurs in no field and no feed. */
function randomBoundary(): string {
  return Array.from({ length: 32 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

/** As browsers do (WHATWG HTML, multipart/form-data encoding algorithm). */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}
