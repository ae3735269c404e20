// Finds the placeholders of a template that nobody filled, such as `{{ job.title }}`, among the ids and titles of a
// feed.

import { short } from '../xml/fault.ts'

/** The marks of Liquid, Jinja, Handlebars, Twig, Smarty, ERB, JSP, ASP, PHP, JavaScript, Ruby and XSLT. */
const PLACEHOLDER = /\{\{.+?\}\}|\{%.+?%\}|<%.+?%>|<\?(?:php|=).+?\?>|[$#@]\{.+?\}|\{[$#@].+?\}/s
/** MARK is in each placeholder; few values have it. */
const MARK = /[{<%[]|__/
/** Words in single braces or percent signs are placeholders only as a whole title: an id can be a GUID in braces. */
const WHOLE_PLACEHOLDER =
  /^(?:\{[a-z][\w.]*\}|\[\[?[a-z]\w*[._]\w+\]?\]|%[a-z][\w.]*%|__[a-z]\w*__)$/i
const LONGEST_EXAMPLE = 40

export class PlaceholderCounts {
  readonly #of: 'ids' | 'titles'
  #values = 0
  #placeholders = 0
  #example = ''

  /** In titles, a single word in braces counts, too. */
  constructor(of: 'ids' | 'titles') {
    this.#of = of
  }

  /** add counts one value. */
  add(value: string): void {
    this.#values++
    if (!MARK.test(value)) return
    if (!PLACEHOLDER.test(value) && !(this.#of === 'titles' && WHOLE_PLACEHOLDER.test(value)))
      return
    if (this.#placeholders++ === 0)
      this.#example = short(value.replace(/\s+/g, ' '), LONGEST_EXAMPLE)
  }

  /** most returns an example if most of the values are placeholders, or else null. */
  most(): string | null {
    return this.#placeholders * 2 > this.#values ? this.#example : null
  }
}
