// This file parses multipart/form-data as it arrives, in bounded memory for a file of any size. It does not know forms
// or policies.

import { refuseAsS3 } from './s3-answer.ts'

export interface Part {
  name: string
  filename: string | null
  /** offset is the number of bytes of the body before the value. */
  offset: number
  /** value yields the bytes of the part. Bytes that are not read before the next part is asked for are dropped. */
  value: AsyncIterable<Buffer>
}

const LONGEST_PART_HEAD = 8 * 1024
const CRLF2 = Buffer.from('\r\n\r\n')

/** boundaryOf returns the boundary of a content type, or null if the content type has no valid boundary. */
export function boundaryOf(contentType: string): string | null {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(contentType)
  return match?.[1] ?? match?.[2] ?? null
}

/**
 * readParts yields the parts up to the closing delimiter, then reads and drops the rest. It refuses a body that is
 * malformed or ends before the closing delimiter.
 */
export async function* readParts(
  chunks: AsyncIterable<Buffer>,
  boundary: string,
): AsyncGenerator<Part, void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const input = chunks[Symbol.asyncIterator]()
  // The first delimiter has no line break before it. A line break in front makes it look like the others.
  let rest: Buffer = Buffer.from('\r\n')
  /** offset is the number of bytes of the body before `rest`. */
  let offset = -2
  /** more adds the next chunk to `rest`, and returns whether there was one. */
  const more = async () => {
    const { done, value } = await input.next()
    if (!done) rest = rest.length === 0 ? value : Buffer.concat([rest, value])
    return !done
  }
  /** need adds the next chunk to `rest`, and refuses a body that ends here. */
  const need = async () => {
    if (!(await more())) malformed()
  }
  const take = (bytes: number) => {
    const taken = rest.subarray(0, bytes)
    rest = rest.subarray(bytes)
    offset += bytes
    return taken
  }
  /** value yields the bytes before the next delimiter, and takes the delimiter itself. */
  async function* value(): AsyncGenerator<Buffer, void> {
    for (;;) {
      const end = rest.indexOf(delimiter)
      // Bytes that might begin a delimiter wait for the next chunk.
      const partial = rest.indexOf('\r', Math.max(0, rest.length - delimiter.length + 1))
      const beforeDelimiter = end !== -1 ? end : partial !== -1 ? partial : rest.length
      if (beforeDelimiter > 0) yield take(beforeDelimiter)
      if (end !== -1) break
      await need()
    }
    take(delimiter.length)
  }

  while (rest.length < delimiter.length) await need()
  // A preamble is malformed: browsers and libraries send none, and S3 is not known to accept one.
  if (!take(delimiter.length).equals(delimiter)) malformed()
  for (;;) {
    while (rest.length < 2) await need()
    const next = take(2).toString('latin1')
    if (next === '--') break
    if (next !== '\r\n') malformed()
    while (!rest.includes(CRLF2)) {
      if (rest.length > LONGEST_PART_HEAD) malformed()
      await need()
    }
    const head = readHead(take(rest.indexOf(CRLF2) + CRLF2.length).toString('utf8'))
    const part = { ...head, offset, value: value() }
    yield part
    for await (const _ of part.value);
  }
  do take(rest.length)
  while (await more())
}

function readHead(head: string): { name: string; filename: string | null } {
  const disposition =
    head.split('\r\n').find((line) => /^content-disposition:\s*form-data\s*;/i.test(line)) ?? ''
  const name = parameter(disposition, 'name')
  return name === null ? malformed() : { name, filename: parameter(disposition, 'filename') }
}

/**
 * parameter returns a quoted value of a header line, or null if the line does not have it. Browsers write `%22`, `%0D`
 * and `%0A` for a quote, a CR and an LF.
 */
function parameter(line: string, name: string): string | null {
  const match = new RegExp(`;\\s*${name}="([^"]*)"`, 'i').exec(line)
  return match?.[1]?.replace(/%22/g, '"').replace(/%0D/gi, '\r').replace(/%0A/gi, '\n') ?? null
}

function malformed(): never {
  return refuseAsS3({ code: 'MalformedPOSTRequest' })
}
