// Finds the placeholders of a template that nobody filled, such as `{{ job.title }}`, among the ids and titles of a
// feed.

import { short } from '../xml/fault.ts'

/**
 * PLACEHOLDER matches a value with a mark of Liquid, Jinja, Handlebars, Twig, Smarty, ERB, JSP, ASP, PHP, JavaScript,
 * Ruby or XSLT.
 */
const PLACEHOLDER = /\{\{.+?\}\}|\{%.+?%\}|<%.+?%>|<\?(?:php|=).+?\?>|[$#@]\{.+?\}|\{[$#@].+?\}/s
/** MARK matches in every placeholder and in few other values, so it is tried first. */
const MARK = /[{<%[]|__/
/**
 * WHOLE_PLACEHOLDER matches one word in braces, brackets, percent signs or underscores. Only titles are compared with
 * it, because an id can be a GUID in braces.
 */
const WHOLE_PLACEHOLDER =
  /^(?:\{[a-z][\w.]*\}|\[\[?[a-z]\w*[._]\w+\]?\]|%[a-z][\w.]*%|__[a-z]\w*__)$/i
const LONGEST_EXAMPLE = 40

export class PlaceholderCounts {
  readonly #of: 'ids' | 'titles'
  #values = 0
  #placeholders = 0
  #example = ''

  /** `of` says what the values are. In titles, a single word in braces counts as a placeholder, too. */
  constructor(of: 'ids' | 'titles') {
    this.#of = of
  }

  /** add counts one value, and keeps the first placeholder as the example. */
  add(value: string): void {
    this.#values++
    if (!MARK.test(value)) return
    const isWholeTitle = this.#of === 'titles' && WHOLE_PLACEHOLDER.test(value)
    if (!isWholeTitle && !PLACEHOLDER.test(value)) return
    if (this.#placeholders++ === 0)
      this.#example = short(value.replace(/\s+/g, ' '), LONGEST_EXAMPLE)
  }

  /** exampleIfMost returns the first placeholder if most of the values are placeholders, or else null. */
  exampleIfMost(): string | null {
    return this.#placeholders * 2 > this.#values ? this.#example : null
  }
}
