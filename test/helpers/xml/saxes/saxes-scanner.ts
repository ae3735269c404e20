// The strict check of a document's text in one class: XML 1.0 (fifth edition) with namespaces, for every declared
// version. saxes does the check; the lexer before it finds the faults that saxes misses. Only this file imports saxes.
// The check stops at the first fault and never repairs anything.

import { SaxesParser } from 'saxes'
import { NAME_START } from '../../../../src/xml/characters.ts'
import { type Ending, type Fault, notWellFormed, short } from '../../../../src/xml/fault.ts'
import { type Limits, tooDeep } from '../../../../src/xml/limits.ts'
import { HTML_PAGE } from '../../../../src/xml/prolog.ts'
import { XmlLexer } from './saxes-lexer.ts'
import { explain } from './saxes-sentences.ts'

export interface Attribute {
  readonly name: string
  readonly value: string
}

/** SaxesHandler receives the content of the document in order, up to the first fault. */
export interface SaxesHandler {
  open(name: string, attributes: Readonly<Record<string, Attribute>>): void
  /** text gets character data with entities resolved. One run of text can come in several calls. */
  text(value: string): void
  close(name: string): void
}

/** DECLARATION replaces every declaration, because version 1.1 would change the rules of saxes. */
const DECLARATION = '<?xml version="1.0"?>'
const LOCAL_START = new RegExp(`:(?!${NAME_START})`, 'u')

class Stopped extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

interface OpenElement {
  name: string
  at: number
}

export class XmlScanner {
  readonly #parser = new SaxesParser({ xmlns: true, position: false })
  readonly #lexer: XmlLexer
  readonly #limits: Limits
  readonly #handler: SaxesHandler
  /** Index of the parser's first character. */
  readonly #origin: number
  readonly #open: OpenElement[] = []
  #closed: OpenElement = { name: '', at: 0 }
  /** Text that later text can change. */
  #rest = ''
  #at: number
  /** The text that the parser reads now. */
  #slice = ''
  #sliceAt = 0

  /** `at` is the length of the XML declaration before the text; 0 if there is none. */
  constructor(handler: SaxesHandler, limits: Limits, at: number) {
    this.#handler = handler
    this.#limits = limits
    this.#lexer = new XmlLexer(limits)
    this.#at = at
    this.#origin = at === 0 ? 0 : at - DECLARATION.length
    if (at > 0) this.#parser.write(DECLARATION)
    this.#listen()
  }

  write(text: string): Fault | null {
    return this.#scan(this.#rest + text, false)
  }

  end(): Ending {
    const fault = this.#scan(this.#rest, true)
    if (fault !== null) return { kind: 'fault', fault }
    if (!this.#lexer.complete || this.#rest.length > 0) {
      const at = this.#at + this.#rest.length
      return { kind: 'incomplete', reason: this.#unfinished(), at }
    }
    const late = this.#guarded(() => this.#parser.close())
    return late === null ? { kind: 'complete' } : { kind: 'fault', fault: late }
  }

  #scan(text: string, final: boolean): Fault | null {
    const { end, fault } = this.#lexer.scan(text, this.#at, final)
    this.#slice = text.slice(0, end)
    this.#sliceAt = this.#at
    const earlier = this.#guarded(() => this.#parser.write(this.#slice))
    this.#rest = text.slice(end)
    this.#at += end
    return earlier ?? fault
  }

  #guarded(work: () => void): Fault | null {
    try {
      work()
      return null
    } catch (error) {
      if (error instanceof Stopped) return error.fault
      throw error
    }
  }

  #unfinished(): string {
    const element = this.#open.at(-1)
    const inside = this.#lexer.inside ?? (this.#rest === '' ? null : 'tag or reference')
    const where = inside === null ? '' : ` inside a ${inside}`
    if (element === undefined) {
      const place = this.#lexer.rootSeen ? 'after' : 'before'
      return `the document ends early${where}, ${place} its root element`
    }
    return `the document ends early${where}: <${short(element.name)}> is not closed`
  }

  #listen(): void {
    const parser = this.#parser
    parser.on('error', (error) => this.#stop(this.#translated(error.message)))
    parser.on('opentagstart', (tag) => this.#start(tag.name))
    // Set no handler for attributes: one more property on the parser makes V8 store it as a dictionary, which is six
    // times slower.
    parser.on('opentag', (tag) => {
      for (const name in tag.attributes) this.#checkLocalName(name, this.#markupAt())
      this.#handler.open(tag.name, tag.attributes)
    })
    parser.on('text', (text) => this.#handler.text(text))
    parser.on('cdata', (text) => this.#handler.text(text))
    parser.on('closetag', (tag) => {
      this.#closed = this.#open.pop() ?? this.#closed
      this.#handler.close(tag.name)
    })
  }

  #start(name: string): void {
    const at = this.#markupAt()
    if (this.#open.length === 0 && name.toLowerCase() === 'html') {
      this.#stop({ code: 'html', reason: HTML_PAGE, at })
    }
    this.#open.push({ name, at })
    this.#checkLocalName(name, at)
    if (this.#open.length > this.#limits.depth) {
      this.#stop(tooDeep(this.#limits.depth, at))
    }
  }

  /** #checkLocalName stops at a local name that is not a valid name, because saxes checks only that there is one. */
  #checkLocalName(name: string, at: number): void {
    if (!LOCAL_START.test(name)) return
    const reason = `"${short(name)}" is not a name: the part after the ":" must begin with a letter or "_"`
    this.#stop(notWellFormed(reason, at))
  }

  #stop(fault: Fault): never {
    throw new Stopped(fault)
  }

  /** #last returns the index of the last character that the parser has read. */
  #last(): number {
    return this.#origin + this.#parser.position - 1
  }

  #markupAt(): number {
    const found = this.#slice.lastIndexOf('<', this.#last() - this.#sliceAt)
    return this.#sliceAt + Math.max(0, found)
  }

  #translated(message: string): Fault {
    return explain(message, {
      before: this.#slice.slice(0, Math.max(0, this.#last() + 1 - this.#sliceAt)),
      at: this.#sliceAt,
      element: this.#open.at(-1) ?? null,
      closed: this.#closed,
    })
  }
}
