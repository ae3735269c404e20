// Builds the bytes of the upload request: every field once, unchanged and in the given order, nothing added, the file
// last. FormData is not used, because it holds the whole file in memory, rewrites line ends in fields and counts sizes
// above 4 GiB wrong (measured).

import { randomUUID } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { getDefaultHighWaterMark } from 'node:stream'
import type { UploadForm } from '../service/port.ts'
import type { Bandwidth } from './bandwidth.ts'

/** FILE_NAME is fixed and ASCII, because storage puts it in place of "${filename}" in any field. */
export const FILE_NAME = 'feed.xml'

/** READ_SIZE is the size of one read in bytes. Larger reads are not faster (measured). */
const READ_SIZE = 256 * 1024

/**
 * After a write of at least SOCKET_BUFFER bytes, the socket asks for the next piece only when the system has taken all
 * of the write. Then its buffer can be used again: new buffers need 60 MB more memory for a file of 200 MB (measured).
 */
const SOCKET_BUFFER = getDefaultHighWaterMark(false)

/** FilePart is the file of a body. At most `bytes` of a file handle are sent, as fast as the bandwidth allows. */
interface FilePart {
  file: FileHandle | Buffer
  bytes: number
  /** null means no limit. */
  bandwidth: Bandwidth | null
}

/**
 * createMultipartBody returns the body that posts the file with the form. It reads a file handle in pieces; a file in a
 * Buffer is one piece, without a limit of the bandwidth.
 */
export function createMultipartBody(form: UploadForm, { bandwidth, bytes, file }: FilePart) {
  const boundary = randomUUID().replaceAll('-', '')
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
    /** The exact size of the whole request body. */
    length: head.length + bytes + tail.length,
    /** The number of bytes in front of the file. */
    headLength: head.length,
    /** chunks yields the body; `signal` ends its waits for the bandwidth. */
    async *chunks(signal: AbortSignal): AsyncGenerator<Buffer> {
      // One piece is one write to the socket.
      if (Buffer.isBuffer(file)) return yield Buffer.concat([head, file, tail])
      yield head
      yield* readPieces(file, { bandwidth, bytes }, signal)
      yield tail
    },
  }
}

/** readPieces yields at most `bytes`. A file that ends early ends the body early, which fails the request. */
async function* readPieces(
  handle: FileHandle,
  { bandwidth, bytes }: Omit<FilePart, 'file'>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const readSize = Math.min(READ_SIZE, bandwidth?.readSize ?? READ_SIZE)
  const buffers = [0, 1, 2].map(() => Buffer.allocUnsafeSlow(Math.min(readSize, bytes)))
  const canReuse = readSize >= SOCKET_BUFFER
  const readAt = (position: number, piece: number) => {
    const buffer = (canReuse ? buffers[piece % 3] : undefined) ?? Buffer.alloc(readSize)
    return handle.read(buffer, 0, Math.min(readSize, bytes - position), position)
  }
  // Read each piece while the piece before it is sent: 200 MB then took 0.56 of the time (22 alternating pairs).
  let ahead = readAt(0, 0)
  for (let position = 0, piece = 1; position < bytes; piece++) {
    const { buffer, bytesRead } = await ahead
    if (bytesRead === 0) return
    position += bytesRead
    if (position < bytes) ahead = readAt(position, piece)
    // If the request ends early, nobody awaits this read, and its error must not end the process.
    ahead.catch(() => {})
    await bandwidth?.wait(bytesRead, signal)
    yield buffer.subarray(0, bytesRead)
  }
}

/** quoted escapes a name as browsers do (WHATWG HTML, multipart/form-data encoding algorithm). */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}
