// Finds the tokens, so that the parser behind it gets only text that a later piece cannot change. It detects faults
// that saxes misses (white space in processing instructions, entities without ";", DOCTYPE, text outside the root), and
// checks the limits. Of valid XML 1.0 with namespaces, it refuses only internal DTD subsets and unknown entities.

import { type Fault, notWellFormed, type TokenEnd } from '../../../../src/xml/fault.ts'
import { type Limits, tooLong, tooManyAttributes } from '../../../../src/xml/limits.ts'
import { doctypeAt, instructionAt, outsideText } from '../../../../src/xml/prolog.ts'
import { entityAt } from '../../../../src/xml/reference.ts'
import { tagAt } from './tag.ts'

type State = 'text' | 'tag' | 'value' | 'comment' | 'cdata' | 'instruction'

const TERMINATORS = { comment: '-->', cdata: ']]>', instruction: '?>' } as const
const NAMES = {
  comment: 'comment',
  cdata: 'CDATA section',
  instruction: 'processing instruction',
} as const
/** WHOLE_TAG is the length up to which a tag that a piece cuts is scanned again from its start with the next piece. */
const WHOLE_TAG = 4_096

const TAG_DELIMITER = /[>"']/g

/** Next is where a step ended; null means the step must begin again with more input, or found a fault. */
type Next = number | null

export class XmlLexer {
  readonly #limits: Limits
  #state: State = 'text'
  #fault: Fault | null = null
  /** Index of the first character of the text that is being scanned. */
  #base = 0
  #final = false
  #depth = 0
  rootSeen = false
  #doctypeSeen = false
  #closing = false
  #quote = ''
  #lastInTag = ''
  /** Characters of the token so far. */
  #length = 0
  #tokenAt = 0
  #valueLength = 0
  #valueAt = 0
  #attributes = 0
  #nextAmpersand = -1

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /**
   * scan scans `text`, whose first character has the index `base`. Returns the number of characters that later text
   * cannot change; the rest must come again together with the next text. If `final` is true, there is no next text.
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
    // The parser gets all text before the fault, because it can find an earlier fault.
    return { end: fault === null ? at : Math.max(at, fault.at - base), fault }
  }

  /** complete is true if the root element was opened and closed, and no token is open. */
  get complete(): boolean {
    return this.#state === 'text' && this.rootSeen && this.#depth === 0
  }

  /** inside names the token in which the document ends, for a sentence; null if it ends between tokens. */
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
      return this.#fail(tooLong('text', 'a text', this.#limits.text, this.#tokenAt))
    return stop === at ? null : stop
  }

  #outside(text: string, at: number, end: number): Next {
    const space = text.slice(at, end).search(/[^ \t\r\n]|$/)
    if (space > 0) return at + space
    return this.#follow(outsideText(text.slice(at), this.rootSeen, this.#final), at)
  }

  /** #follow returns the place after a token that was scanned from `at` on; null if it is cut or has a fault. */
  #follow(found: TokenEnd, at: number): Next {
    if (found === null) return null
    return typeof found === 'number' ? at + found : this.#fail(found, this.#base + at)
  }

  /** #entities checks the entity references of text or of a value, and returns the place where the scan continues. */
  #entities(text: string, at: number, end: number): Next {
    while (true) {
      if (this.#nextAmpersand < at) {
        const found = text.indexOf('&', at)
        this.#nextAmpersand = found === -1 ? Number.POSITIVE_INFINITY : found
      }
      const ampersand = this.#nextAmpersand
      if (ampersand >= end) return end
      const rest = text.slice(ampersand)
      const entity = entityAt(rest, this.#doctypeSeen, this.#limits.name)
      if (typeof entity !== 'number') {
        return entity === null ? ampersand : this.#follow(entity, ampersand)
      }
      at = ampersand + entity
    }
  }

  #markup(text: string, at: number): Next {
    const where = this.#base + at
    const next = text[at + 1]
    this.#length = 0
    this.#tokenAt = where
    this.#attributes = 0
    if (next === undefined) return null
    if (next === '!') return this.#declaration(text, at)
    if (next === '?') return this.#instruction(text, at)
    const look = tagAt(text, at, this.#depth, this.rootSeen)
    if (typeof look !== 'number') return this.#follow(look, 0)
    this.#closing = next === '/'
    this.#state = 'tag'
    this.#lastInTag = ''
    this.#length = look - at
    const reached = this.#throughTag(text, look)
    if (this.#fault !== null) return null
    if (this.#inText || text.length - at >= WHOLE_TAG || this.#final) return reached
    this.#state = 'text'
    return null
  }

  /** #throughTag scans to the end of the tag, or to the end of the input. */
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
        return this.#fail(tooLong('tag', 'a tag', this.#limits.tag, this.#tokenAt))
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
      if (++this.#attributes > this.#limits.attributes)
        return this.#fail(tooManyAttributes(this.#limits.attributes, this.#tokenAt))
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
    this.rootSeen = true
    if (this.#closing) this.#depth--
    else if (!selfClosing) this.#depth++
  }

  #longName(text: string, at: number, end: number): Next {
    const most = this.#limits.name
    const run = new RegExp(`[^\\s=/<]{${most + 1}}`).exec(text.slice(at, end))
    return run === null
      ? null
      : this.#fail(tooLong('name', 'a name', most, this.#base + at + run.index))
  }

  #value(text: string, at: number): Next {
    const quote = text.indexOf(this.#quote, at)
    const end = quote === -1 ? text.length : quote
    const stop = this.#entities(text, at, end)
    if (stop === null) return null
    this.#valueLength += stop - at
    const most = this.#limits.attributeValue
    if (this.#valueLength > most)
      return this.#fail(tooLong('attribute', 'an attribute value', most, this.#valueAt))
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
    const doctype = doctypeAt(text.slice(at), this.rootSeen || this.#doctypeSeen)
    if (typeof doctype === 'number') this.#doctypeSeen = true
    return this.#follow(doctype, at)
  }

  #instruction(text: string, at: number): Next {
    const look = instructionAt(text.slice(at), this.#limits.name)
    if (typeof look === 'number') this.#state = 'instruction'
    return this.#follow(look, at)
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
      return this.#fail(tooLong('text', `a ${NAMES[state]}`, this.#limits.text, this.#tokenAt))
    }
    if (found === -1) return end === at ? null : end
    this.#state = 'text'
    this.#length = 0
    return end + terminator.length
  }

  /** #fail stops the scan with a fault, whose place counts from `from`, and returns null. */
  #fail(fault: Fault, from = 0): null {
    this.#fault = { ...fault, at: from + fault.at }
    return null
  }
}
