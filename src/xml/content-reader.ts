// Reads content (XML 1.0 production 43): tags and the texts between them, matched with the open elements. One long
// method keeps its variables in registers; other files handle the unusual cases. A tag is read only as a whole: an
// incomplete one waits for more input.

import { nextMark } from './byte-marks.ts'
import {
  afterSpace,
  BANG,
  BLANK,
  CLASSES,
  EQUALS,
  GT,
  LT,
  NAME_START,
  nameEnd,
  QUESTION,
  QUOTE,
  SLASH,
  SPACE,
  sameBytes,
} from './bytes.ts'
import { stop, wrong } from './fault.ts'
import { Attributes } from './handler.ts'
import { type Input, NEED_MORE } from './input.ts'
import { tooDeep, tooLong, tooManyAttributes } from './limits.ts'
import type { Listener } from './listener.ts'
import {
  badLocalName,
  MOST_NAMES,
  type Name,
  NameTable,
  NONE,
  PLAIN,
  SPECIAL,
  UNREAD,
} from './names.ts'
import { duplicateAttribute, type NamespaceFault, Namespaces } from './namespaces.ts'
import { HTML_PAGE } from './prolog.ts'
import {
  checkFirst,
  elementName,
  misplaced,
  nameIn,
  quoteAfterName,
  refuse,
  refuseUnlessCut,
  unmatched,
  valueEnd,
} from './tag-reader.ts'
import { TextReader } from './text-reader.ts'

export class ContentReader {
  rootSeen = false
  /** depth counts the open elements. */
  depth = 0
  readonly #input: Input
  readonly #listener: Listener
  readonly #text: TextReader
  readonly #names: NameTable
  readonly #attributes: Attributes
  readonly #namespaces = new Namespaces()
  /** #open has the name numbers of the open elements, #openedAt the places of their start tags in the document. */
  readonly #open: Int32Array
  readonly #openedAt: Float64Array
  /** #opening is the name of the start tag that the input cuts; null if it cuts none. */
  #opening: string | null = null

  constructor(input: Input, listener: Listener) {
    const { limits } = input
    this.#input = input
    this.#listener = listener
    this.#text = new TextReader(input, listener)
    this.#names = new NameTable(limits.name)
    this.#attributes = new Attributes(this.#names, limits.attributes)
    this.#open = new Int32Array(limits.depth)
    this.#openedAt = new Float64Array(limits.depth)
  }

  /** unclosed returns the innermost open element or, with `insideTag`, an incomplete tag without its place, or null. */
  unclosed(insideTag: boolean): { name: string; openedAt: number | null } | null {
    if (insideTag && this.#opening !== null) return { name: this.#opening, openedAt: null }
    if (this.depth === 0) return null
    return { name: this.#element.text, openedAt: this.#openedAt[this.depth - 1] ?? 0 }
  }

  get #element(): Name {
    return this.#names.of(this.#open[this.depth - 1] as number)
  }

  /** moved must be called before `read` if the input has new bytes or other memory. */
  moved(): void {
    const { data, view } = this.#input
    this.#attributes.data = data
    this.#attributes.view = view
    this.#opening = null
    if (data[0] === LT) this.#text.reset()
  }

  /**
   * Hot: read continues at `from`, inside an element or where one begins. It returns the place where it stopped: the
   * end of the root element, a `<!` or `<?`, or an incomplete token.
   */
  read(from: number): number {
    const input = this.#input
    const { data, view, marks, base, end, limits } = input
    const { text, value } = marks
    const names = this.#names
    let { kinds, lengths, starts, followers, words } = names
    const listener = this.#listener
    const { handler } = listener
    const namespaces = this.#namespaces
    const attributes = this.#attributes
    const { numbers } = attributes
    const open = this.#open
    let last = this.depth === 0 ? NONE : (open[this.depth - 1] as number)
    let at = from
    while (at < end) {
      if (data[at] !== LT) {
        // CharData (14) and references
        const to = nextMark(text, at)
        if (data[to] !== LT || to - at > limits.text || this.#text.isOpen) {
          const next = this.#text.readOn(at, to)
          if (next === NEED_MORE) return at
          at = next
          continue
        }
        if (listener.ignoredFrom === 0) listener.text(at, to, true)
        at = to
      }
      const { depth } = this
      const second = data[at + 1]
      if (second === SLASH) {
        // ETag (42)
        const number = depth === 0 ? NONE : (open[depth - 1] as number)
        const length = lengths[number] as number
        const start = starts[number] as number
        let behind = at + length + 3
        // The comparison fails at the sentinel, so an old ">" after the input cannot match.
        if (
          data[behind - 1] !== GT ||
          depth === 0 ||
          !sameBytes(words, start, length, view, at + 2)
        ) {
          behind = this.#endTag(at)
          if (behind === NEED_MORE) return at
        }
        this.#leave(behind)
        at = behind
        if (depth === 1) return at
        continue
      }
      if (second === BANG || second === QUESTION) return at
      // STag (40) or EmptyElemTag (44)
      if (depth === 0 && !this.#beginsRoot(at)) return at
      if (names.count > MOST_NAMES) {
        names.forget(open.subarray(0, depth))
        last = NONE
      }
      let element = followers[last] as number
      let length = lengths[element] as number
      let place = at + 1 + length
      if (
        (data[place] !== GT && data[place] !== BLANK) ||
        !sameBytes(words, starts[element] as number, length, view, at + 1)
      ) {
        place = nameEnd(data, at + 1)
        element = names.find(view, at + 1, place, last)
        ;({ kinds, lengths, starts, followers, words } = names)
      }
      if (kinds[element] === UNREAD || place >= end) {
        element = elementName(input, names, at, place)
        if (element === NONE) return this.#cut(at, element, 0)
      }
      last = element
      let kindsSeen = kinds[element] as number
      if (depth === 0 || kindsSeen !== PLAIN || depth >= limits.depth) {
        this.#checkElement(names.of(element), at)
      }
      let count = 0
      let valueBytes = 0
      let isEmpty = false
      for (;;) {
        let byte = data[place] as number
        const before = place
        while (((CLASSES[byte] as number) & SPACE) !== 0) byte = data[++place] as number
        if (byte === GT) break
        if (byte === SLASH && data[place + 1] === GT) {
          place++
          isEmpty = true
          break
        }
        if (((CLASSES[byte] as number) & NAME_START) === 0 || place === before) {
          refuseUnlessCut(input, at, place, place > before)
          return this.#cut(at, element, valueBytes)
        }
        // Attribute (41)
        const begin = place
        let number = followers[last] as number
        length = lengths[number] as number
        place = begin + length
        if (
          data[place] !== EQUALS ||
          !sameBytes(words, starts[number] as number, length, view, begin)
        ) {
          place = nameEnd(data, begin)
          number = names.find(view, begin, place, last)
          ;({ kinds, lengths, starts, followers, words } = names)
        }
        if (kinds[number] === UNREAD || place >= end) {
          number = nameIn(input, names, at, begin, place)
          if (number === NONE) return this.#cut(at, element, valueBytes)
        }
        last = number
        // Eq (25)
        if (data[place] === EQUALS && data[place + 1] === QUOTE) place++
        else {
          place = quoteAfterName(input, at, place)
          if (place === NEED_MORE) return this.#cut(at, element, valueBytes)
        }
        if (count >= limits.attributes) stop(tooManyAttributes(limits.attributes, base + at))
        // AttValue (10)
        const opened = place
        place = nextMark(value, opened + 1)
        if (data[place] !== data[opened] || place - opened > limits.attributeValue) {
          place = valueEnd(input, opened, place)
          if (place === NEED_MORE) return this.#cut(at, element, valueBytes + end - opened - 1)
        }
        valueBytes += place - opened - 1
        numbers[count] = number
        attributes.begin[count] = begin
        attributes.from[count] = opened + 1
        attributes.to[count] = place
        count++
        place++
        if (kinds[number] !== PLAIN) {
          kindsSeen |= SPECIAL
          attributes.count = count
          const reason = namespaces.readLast(attributes)
          if (reason !== null) refuse(input, at, reason)
        }
      }
      attributes.count = count
      let fault: NamespaceFault | null = null
      if (kindsSeen !== PLAIN) fault = namespaces.enter(names.of(element), attributes, depth + 1)
      else if (count > 1) fault = duplicateAttribute(attributes)
      if (fault !== null) refuse(input, at, fault.reason, fault.at)
      if (depth === 0) this.rootSeen = true
      open[depth] = element
      this.#openedAt[depth] = base + at
      this.depth = depth + 1
      if (listener.ignoredFrom === 0 && !handler.open(names.of(element), attributes, at)) {
        listener.ignoredFrom = depth + 1
      }
      place++
      if (place - at > limits.tag) this.#checkLength(at, place, valueBytes)
      if (isEmpty) this.#leave(place)
      at = place
      if (this.depth === 0) return at
    }
    return at
  }

  #leave(to: number): void {
    const { depth } = this
    this.depth = depth - 1
    if (this.#namespaces.deepest >= depth) this.#namespaces.leave(depth - 1)
    const listener = this.#listener
    if (listener.ignoredFrom === 0) listener.handler.close(this.#input.data, to)
    else if (listener.ignoredFrom === depth) listener.ignoredFrom = 0
  }

  /** #endTag returns the end of an ETag (42) with white space, or NEED_MORE. Throws `FaultFound` for a wrong tag. */
  #endTag(at: number): number {
    const { data, base, end } = this.#input
    const from = at + 2
    if (from >= end) return this.#needMore(at)
    checkFirst(this.#input, at, from)
    if (this.depth === 0) wrong('there is an end tag without a start tag', base + at)
    const to = nameEnd(data, from)
    const number = nameIn(this.#input, this.#names, at, from, to)
    if (number === NONE || to >= end) return this.#needMore(at)
    const behind = afterSpace(data, to)
    if (behind >= end) return this.#needMore(at)
    if (data[behind] !== GT) stop(misplaced(this.#input, at, behind))
    const name = this.#names.of(number)
    if (name.text !== this.#element.text) {
      const openedAt = this.#openedAt[this.depth - 1] ?? 0
      stop(unmatched(name, this.#element, base + at, openedAt))
    }
    if (behind + 1 - at > this.#input.limits.tag) this.#checkLength(at, behind + 1, 0)
    return behind + 1
  }

  #needMore(at: number): typeof NEED_MORE {
    this.#cut(at, NONE, 0)
    return NEED_MORE
  }

  /** #cut remembers the incomplete start tag at `at`, and returns `at`. Throws `FaultFound` if the tag is too long. */
  #cut(at: number, element: number, valueBytes: number): number {
    if (element !== NONE) this.#opening = this.#names.of(element).text
    this.#checkLength(at, this.#input.end, valueBytes)
    return at
  }

  /** #beginsRoot returns true if the `<` at `at` begins the root element, and false if more input is needed. */
  #beginsRoot(at: number): boolean {
    if (at + 1 >= this.#input.end) return false
    checkFirst(this.#input, at, at + 1)
    if (!this.rootSeen) return true
    const reason = 'there is a second root element; one element must contain all postings'
    stop({ code: 'several-roots', reason, at: this.#input.base + at })
  }

  #checkElement(name: Name, markup: number): void {
    const at = this.#input.base + markup
    if (this.depth === 0 && name.text.toLowerCase() === 'html') {
      stop({ code: 'html', reason: HTML_PAGE, at })
    }
    if (name.badLocal) wrong(badLocalName(name), at)
    if (this.depth >= this.#input.limits.depth) stop(tooDeep(this.#input.limits.depth, at))
  }

  #checkLength(at: number, reached: number, valueBytes: number): void {
    const { base, limits } = this.#input
    if (reached - at - valueBytes > limits.tag) stop(tooLong('tag', 'a tag', limits.tag, base + at))
    if (valueBytes > limits.attributeValue)
      stop(tooLong('attribute', 'the attribute values of a tag', limits.attributeValue, base + at))
  }
}
