// A template for HTML that escapes every value that is not Markup itself, so nobody can forget it.

import { printable } from '../../lib/printable.ts'

export class Markup extends String {}

type Hole = string | number | Markup | null | readonly Hole[]

export function html(texts: TemplateStringsArray, ...holes: readonly Hole[]): Markup {
  return new Markup(String.raw({ raw: texts }, ...holes.map(escaped)))
}

/** escaped shows control characters and escapes markup, because names and reasons come from the vendor's folder. */
function escaped(hole: Hole): string {
  if (hole === null) return ''
  if (hole instanceof Markup) return String(hole)
  if (typeof hole === 'object') return hole.map(escaped).join('')
  return printable(String(hole)).replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`)
}
