// Owns the bytes of the upload request: every field once, byte for byte and in the order given, nothing
// added, the file last (design section 4). Framed by hand: FormData was measured to hold the whole file in
// memory, to rewrite line ends in fields and to count sizes above 4 GiB wrong (research/upload.md 3.1).

import { randomInt } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { UploadForm } from '../service/port.ts'

/** Fixed and ASCII: storage puts the name in place of "${filename}" in any field. */
const FILE_NAME = 'feed.xml'

/** Larger reads gain nothing, smaller ones cost calls (research/upload.md 3.1). */
const READ_SIZE = 256 * 1024

export interface MultipartBody {
  contentType: string
  /** Of the whole request body, exactly. */
  length: number
  /** In front of the file. */
  headLength: number
  chunks(): AsyncGenerator<Buffer>
}

export interface MultipartFile {
  handle: FileHandle
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
      yield head
      yield* read(file, Math.min(READ_SIZE, pace?.readSize ?? READ_SIZE), pace?.wait)
      yield tail
    },
  }
}

/** Bounded by the size that was announced. A file that ends early ends the stream early, which fails the request. */
async function* read(
  { handle, bytes }: MultipartFile,
  readSize: number,
  wait: (bytes: number) => Promise<void> = async () => {},
): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; ) {
    // A buffer of its own each time: the socket may still hold the one before.
    const buffer = Buffer.allocUnsafeSlow(Math.min(readSize, bytes - at))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) return
    await wait(bytesRead)
    yield bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead)
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
