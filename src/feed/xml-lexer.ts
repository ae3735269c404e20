// Finds where tokens begin and end, so that the parser behind it only gets what is certain: nothing
// that a later piece could change. It sees what saxes does not (white space rules of processing
// instructions, entities without ";", DOCTYPE, text outside the root) and counts against the limits.
// It refuses nothing that is XML 1.0 with namespaces, but internal DTD subsets and unknown entities.

import { doctypeAt } from './doctype.ts'
import { entityAt } from './entity.ts'
import { type Fault, notWellFormed, shown } from './fault.ts'
import { foreignText } from './foreign-formats.ts'
import type { Limits } from './limits.ts'
import { NAME_START, NC_NAME } from './xml-names.ts'

type State = 'text' | 'tag' | 'value' | 'comment' | 'cdata' | 'instruction'

const TERMINATORS = { comment: '-->', cdata: ']]>', instruction: '?>' } as const
const NAMES = {
  comment: 'comment',
  cdata: 'CDATA section',
  instruction: 'processing instruction',
} as const
/** A tag that is cut by the end of a piece is looked at again as a whole up to this length. */
const WHOLE_TAG = 4_096

const STARTS_NAME = new RegExp(NAME_START, 'uy')
const TARGET = new RegExp(`<\\?(${NC_NAME})`, 'uy')
const NOT_SPACE = /[^ \t\r\n]/g
const TAG_DELIMITER = /[>"']/g

/** Where a step left off; null: more input is needed from where it began. */
type Next = number | null

export class XmlLexer {
  readonly #limits: Limits
  #state: State = 'text'
  #fault: Fault | null = null
  /** Index of the first character of the text that is being scanned. */
  #base = 0
  #final = false
  #depth = 0
  #rootSeen = false
  #doctypeSeen = false
  #closing = false
  #quote = ''
  #lastInTag = ''
  /** Characters of the token so far. */
  #length = 0
  #tokenAt = 0
  #valueLength = 0
  #valueAt = 0
  #nextAmpersand = -1

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /**
   * Scans `text`, whose first character has the index `base`. Answers how many characters are
   * certain; the rest must come again with what follows it. `final`: nothing follows.
   */
  scan(text: string, base: number, final: boolean): { end: number; fault: Fault | null } {
    this.#base = base
    this.#final = final
    this.#nextAmpersand = -1
    let at = 0
    while (at < text.length && this.#fault === null) {
      const next = this.#step(text, at)
      if (next === null) break
      at = next
    }
    const fault = this.#fault
    return { end: fault === null ? at : Math.min(at, Math.max(0, fault.at - base)), fault }
  }

  /** The root element was opened and closed, and no token is open. */
  get complete(): boolean {
    return this.#state === 'text' && this.#rootSeen && this.#depth === 0
  }

  /** What the document ends in, for a sentence; null: between tokens. */
  get inside(): string | null {
    if (this.#state === 'text') return null
    return this.#state === 'tag' || this.#state === 'value' ? 'tag' : NAMES[this.#state]
  }

  #step(text: string, at: number): Next {
    switch (this.#state) {
      case 'text':
        return text[at] === '<' ? this.#markup(text, at) : this.#text(text, at)
      case 'tag':
        return this.#tag(text, at)
      case 'value':
        return this.#value(text, at)
      default:
        return this.#section(text, at, this.#state)
    }
  }

  #text(text: string, at: number): Next {
    const bracket = text.indexOf('<', at)
    const end = bracket === -1 ? text.length : bracket
    if (this.#depth === 0) return this.#outside(text, at, end)
    if (this.#length === 0) this.#tokenAt = this.#base + at
    const stop = this.#entities(text, at, end)
    this.#length += (stop ?? at) - at
    if (this.#length > this.#limits.text)
      return this.#tooLong('text', 'a text', this.#limits.text, this.#tokenAt)
    return stop === at ? null : stop
  }

  #outside(text: string, at: number, end: number): Next {
    NOT_SPACE.lastIndex = at
    const found = NOT_SPACE.exec(text)
    if (found === null || found.index >= end) return end
    const where = this.#base + found.index
    if (found[0] === '\ufeff') {
      return this.#fail(
        notWellFormed('there is a byte order mark in the middle of the file', where),
      )
    }
    if (this.#rootSeen) {
      return this.#fail(notWellFormed('there is text after the end of the root element', where))
    }
    // What tells the formats apart is at most three characters, which may still have to come.
    if (end === text.length && end - found.index < 3 && !this.#final) {
      return found.index === at ? null : found.index
    }
    return this.#fail({ ...foreignText(text.slice(found.index, found.index + 3)), at: where })
  }

  /** Checks the entity references of text or of a value; answers where to go on. */
  #entities(text: string, at: number, end: number): Next {
    while (true) {
      if (this.#nextAmpersand < at) {
        const found = text.indexOf('&', at)
        this.#nextAmpersand = found === -1 ? Number.POSITIVE_INFINITY : found
      }
      const ampersand = this.#nextAmpersand
      if (ampersand >= end) return end
      const entity = entityAt(text, ampersand, this.#doctypeSeen, this.#limits.name)
      if (entity.kind === 'more') return ampersand
      if (entity.kind === 'fault') {
        return this.#fail({ ...entity, at: this.#base + ampersand })
      }
      at = entity.end
    }
  }

  #markup(text: string, at: number): Next {
    const where = this.#base + at
    const next = text[at + 1]
    this.#length = 0
    this.#tokenAt = where
    if (next === undefined) return null
    if (next === '!') return this.#declaration(text, at)
    if (next === '?') return this.#instruction(text, at)
    this.#closing = next === '/'
    const name = this.#closing ? at + 2 : at + 1
    if (name >= text.length) return null
    STARTS_NAME.lastIndex = name
    if (!STARTS_NAME.test(text)) {
      const character = String.fromCodePoint(text.codePointAt(name) ?? 0)
      return this.#fail(
        notWellFormed(
          this.#closing
            ? `an end tag must have a name after "</", not ${shown(character)}`
            : '"<" must be written "&lt;"',
          where,
        ),
      )
    }
    if (this.#depth === 0 && this.#closing) {
      return this.#fail(notWellFormed('there is an end tag without a start tag', where))
    }
    if (this.#depth === 0 && this.#rootSeen) {
      return this.#fail({
        code: 'several-roots',
        reason: 'there is a second root element; one element must contain all postings',
        at: where,
      })
    }
    this.#state = 'tag'
    this.#lastInTag = ''
    this.#length = name - at
    const reached = this.#throughTag(text, name)
    if (this.#fault !== null) return null
    if (this.#inText || text.length - at >= WHOLE_TAG || this.#final) return reached
    this.#state = 'text'
    return null
  }

  /** Goes on to the end of the tag, or as far as there is input. */
  #throughTag(text: string, from: number): number {
    let at = from
    while (!this.#inText && at < text.length) {
      const next = this.#step(text, at)
      if (next === null) break
      at = next
    }
    return at
  }

  get #inText(): boolean {
    return this.#state === 'text'
  }

  #tag(text: string, at: number): Next {
    TAG_DELIMITER.lastIndex = at
    const found = TAG_DELIMITER.exec(text)
    const end = found === null ? text.length : found.index
    this.#length += end - at
    if (this.#length > this.#limits.name) {
      const long = this.#longName(text, at, end)
      if (long !== null) return long
      if (this.#length > this.#limits.tag)
        return this.#tooLong('tag', 'a tag', this.#limits.tag, this.#tokenAt)
    }
    if (found === null) {
      this.#lastInTag = text[end - 1] ?? this.#lastInTag
      return end
    }
    if (found[0] !== '>') {
      this.#state = 'value'
      this.#quote = found[0]
      this.#valueLength = 0
      this.#valueAt = this.#base + end
    } else {
      const last = end > at ? text[end - 1] : this.#lastInTag
      this.#endTag(last === '/')
    }
    this.#lastInTag = ''
    return end + 1
  }

  #endTag(selfClosing: boolean): void {
    this.#state = 'text'
    this.#length = 0
    this.#rootSeen = true
    if (this.#closing) this.#depth--
    else if (!selfClosing) this.#depth++
  }

  #longName(text: string, at: number, end: number): Next {
    const most = this.#limits.name
    const run = new RegExp(`[^\\s=/<]{${most + 1}}`).exec(text.slice(at, end))
    return run === null ? null : this.#tooLong('name', 'a name', most, this.#base + at + run.index)
  }

  #value(text: string, at: number): Next {
    const quote = text.indexOf(this.#quote, at)
    const end = quote === -1 ? text.length : quote
    const stop = this.#entities(text, at, end)
    if (stop === null) return null
    this.#valueLength += stop - at
    const most = this.#limits.attributeValue
    if (this.#valueLength > most)
      return this.#tooLong('attribute', 'an attribute value', most, this.#valueAt)
    if (stop === at && stop < end) return null
    if (stop < end || quote === -1) return stop
    this.#state = 'tag'
    return end + 1
  }

  #declaration(text: string, at: number): Next {
    const opens = (token: string) => text.startsWith(token, at)
    if (opens('<!--')) {
      this.#state = 'comment'
      return at + 4
    }
    if (opens('<![CDATA[')) {
      if (this.#depth === 0) {
        const reason = 'there is a CDATA section outside the root element'
        return this.#fail(notWellFormed(reason, this.#base + at))
      }
      this.#state = 'cdata'
      return at + 9
    }
    const rest = text.slice(at, at + 9)
    if (rest.length < 9 && ['<!--', '<![CDATA[', '<!DOCTYPE'].some((t) => t.startsWith(rest))) {
      return null
    }
    const doctype = doctypeAt(text, at, this.#rootSeen || this.#doctypeSeen)
    if (doctype.kind === 'more') return null
    if (doctype.kind === 'fault') {
      return this.#fail({ ...doctype, at: this.#base + doctype.at })
    }
    this.#doctypeSeen = true
    return doctype.end
  }

  #instruction(text: string, at: number): Next {
    const where = this.#base + at
    TARGET.lastIndex = at
    const target = TARGET.exec(text)?.[1] ?? ''
    const end = at + 2 + target.length
    if (target.length > this.#limits.name) {
      return this.#tooLong('name', 'a name', this.#limits.name, where)
    }
    // "?" ends the target only together with ">".
    if (end >= text.length || (text[end] === '?' && end + 1 === text.length)) return null
    if (target.toLowerCase() === 'xml') {
      const reason =
        'the XML declaration must be the first thing in the file, with nothing before it, and stand there once'
      return this.#fail(notWellFormed(reason, where))
    }
    if (target === '' || !(/[ \t\r\n]/.test(text[end] ?? '') || text.startsWith('?>', end))) {
      const character = String.fromCodePoint(text.codePointAt(end) ?? 0)
      const reason = `a processing instruction must begin with "<?", a name and a space, not with ${shown(character)}`
      return this.#fail(notWellFormed(reason, this.#base + end))
    }
    this.#state = 'instruction'
    return end
  }

  #section(text: string, at: number, state: keyof typeof TERMINATORS): Next {
    const terminator = TERMINATORS[state]
    const found = text.indexOf(terminator, at)
    let end = found === -1 ? text.length : found
    if (found === -1 && !this.#final) {
      while (end > at && end > text.length - 2 && terminator.includes(text[end - 1] ?? '')) end--
    }
    this.#length += end - at
    if (this.#length > this.#limits.text) {
      return this.#tooLong('text', `a ${NAMES[state]}`, this.#limits.text, this.#tokenAt)
    }
    if (found === -1) return end === at ? null : end
    this.#state = 'text'
    this.#length = 0
    return end + terminator.length
  }

  #tooLong(code: string, what: string, most: number, at: number): null {
    return this.#fail({
      code: `${code}-too-long`,
      reason: `${what} is longer than ${most.toLocaleString('en-US')} characters, which no feed needs`,
      at,
    })
  }

  #fail(fault: Fault): null {
    this.#fault = fault
    return null
  }
}
