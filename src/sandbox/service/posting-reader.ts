// This file reads the postings of an uploaded feed of any size in bounded memory. It finds the fields of a posting by
// their usual names or by a mapping.

import { createReadStream } from 'node:fs'
import { SaxesParser } from 'saxes'
import { z } from 'zod'
import { readJson } from '../json-input.ts'
import type { SandboxPosting } from './targeting.ts'

type MappedField = keyof SandboxPosting

/** FieldMapping says which elements of a feed are postings and fields. */
export interface FieldMapping {
  /** isRecord returns whether an element of this name, without prefix, is a posting. */
  isRecord(element: string): boolean
  /** fieldAt returns the field at a path below the posting, such as `location/city` or `location/@city`. */
  fieldAt(path: string): MappedField | undefined
}

/** USUAL has a pattern of the usual element names for each field but the id. */
const USUAL: [MappedField, RegExp][] = [
  ['externalCampaignId', /^(external_?)?campaign_?(id)?$/i],
  ['requisitionId', /^(requisition|req)_?(id|number)?$/i],
  ['title', /^(job_?)?title$/i],
  ['description', /^(job_?)?description$/i],
  ['city', /^city$/i],
  ['state', /^state$/i],
  ['postalCode', /^(zip|postal)_?(code)?$/i],
]

/** POSTING_ID matches only below the posting itself, because companies and places have ids, too. */
const POSTING_ID = /^(job_?|posting_?)?(id|guid|reference(_?(id|number))?)$/i

export const USUAL_FIELDS: FieldMapping = {
  isRecord: (element) => /^(job|item|posting|position|vacancy)$/i.test(element),
  fieldAt: (path) => {
    if (POSTING_ID.test(path)) return 'id'
    const element = path.slice(path.lastIndexOf('/') + 1)
    return USUAL.find(([, pattern]) => pattern.test(element))?.[0]
  },
}

const text = z.string().min(1)
const MAPPING = z
  .array(
    z.strictObject({
      record: text,
      id: text.optional(),
      ...{ externalCampaignId: text.optional(), requisitionId: text.optional() },
      ...{ title: text.optional(), description: text.optional(), city: text.optional() },
      ...{ state: text.optional(), postalCode: text.optional() },
    }),
  )
  .length(1)

/**
 * readMapping reads a mapping from JSON text: the name of a posting's element, and the path of each field below it.
 * @throws FeedsyncError (64) if the text is not JSON or not a mapping.
 */
export function readMapping(json: string): FieldMapping {
  const hint = 'docs/sandbox.md shows a mapping'
  const [mapping] = readJson(json, MAPPING, { what: 'fields', hint })
  const { record, ...paths } = mapping as { record: string }
  const fields = new Map(Object.entries(paths).map(([field, path]) => [path, field as MappedField]))
  return { isRecord: (element) => element === record, fieldAt: (path) => fields.get(path) }
}

/** LONGEST_TEXT is the most characters of one text. A feed with a longer text cannot be read. */
const LONGEST_TEXT = 16 * 2 ** 20
/** KEPT_TEXT is the most characters of a field that the reader keeps. */
const KEPT_TEXT = 2 ** 20

/**
 * readPostings yields lists of postings as it reads the file. Throws if the file cannot be read, is not well-formed
 * XML, or has a text that is longer than LONGEST_TEXT.
 */
export async function* readPostings(
  path: string,
  mapping: FieldMapping,
): AsyncGenerator<SandboxPosting[], void> {
  let found: SandboxPosting[] = []
  let posting: SandboxPosting | null = null
  /** charactersHeld counts the characters since the last event of the parser. The parser holds them in memory. */
  let charactersHeld = 0
  /** open lists the open elements below the posting, with the text of each so far. */
  let open: { name: string; text: string }[] = []
  const pathOf = () => open.map(({ name }) => name).join('/')
  const isInDescription = () =>
    open.some((_, i) => {
      const path = open.slice(0, i + 1).map(({ name }) => name)
      return mapping.fieldAt(path.join('/')) === 'description'
    })
  const keep = (field: MappedField | undefined, value: string) => {
    if (posting !== null && field !== undefined) posting[field] = value.trim().slice(0, KEPT_TEXT)
  }
  /** resettingCount makes a handler of parser events that resets `charactersHeld` before its work. */
  const resettingCount = <A extends unknown[]>(work: (...args: A) => void) => {
    return (...args: A) => {
      charactersHeld = 0
      work(...args)
    }
  }
  const parser = new SaxesParser()
  const onText = resettingCount((piece: string) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += piece.slice(0, KEPT_TEXT)
  })
  parser.on('text', onText)
  parser.on('cdata', onText)
  parser.on(
    'comment',
    resettingCount(() => {}),
  )
  parser.on('error', (error) => {
    throw error
  })
  parser.on(
    'opentag',
    resettingCount(({ name: qualifiedName, attributes }) => {
      const name = qualifiedName.slice(qualifiedName.indexOf(':') + 1)
      if (posting !== null) open.push({ name, text: '' })
      else if (mapping.isRecord(name)) posting = emptyPosting()
      else return
      for (const [attribute, value] of Object.entries(attributes)) {
        keep(mapping.fieldAt([...open.map((one) => one.name), `@${attribute}`].join('/')), value)
      }
    }),
  )
  parser.on(
    'closetag',
    resettingCount(() => {
      if (posting === null) return
      if (open.length === 0) {
        found.push(posting)
        posting = null
        return
      }
      const path = pathOf()
      const { text } = open.pop() as { text: string }
      if (text.trim() === '') return
      const field = mapping.fieldAt(path)
      const parent = open.at(-1)
      // The texts of elements inside a description belong to the description.
      if (field === undefined && parent !== undefined && isInDescription()) {
        parent.text = `${parent.text}\n${text}`.slice(0, KEPT_TEXT)
      } else keep(field, text)
    }),
  )
  for await (const piece of textOf(path)) {
    charactersHeld += piece.length
    if (charactersHeld > LONGEST_TEXT) throw new Error('a text is longer than 16 MiB')
    parser.write(piece)
    if (found.length === 0) continue
    yield found
    found = []
  }
  parser.close()
  open = []
  if (found.length > 0) yield found
}

/** textOf yields the text of a file, in the encoding of its byte order mark or XML declaration. */
async function* textOf(path: string): AsyncGenerator<string, void> {
  let decoder: InstanceType<typeof TextDecoder> | null = null
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    decoder ??= new TextDecoder(encodingOf(piece), { fatal: true })
    yield decoder.decode(piece, { stream: true })
  }
  yield decoder?.decode() ?? ''
}

/** encodingOf returns the encoding that the beginning of a file shows, or utf-8. */
function encodingOf(head: Buffer): string {
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  const declared = /^(?:\xEF\xBB\xBF)?<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)["']/.exec(
    head.toString('latin1', 0, 200),
  )
  return declared?.[1] ?? 'utf-8'
}

const emptyPosting = (): SandboxPosting => ({
  ...{ id: '', externalCampaignId: '', requisitionId: '', title: '', description: '' },
  ...{ city: '', state: '', postalCode: '' },
})
