// Translates the reports of saxes into sentences about the document, and moves the position from the place where saxes
// stopped to the place of the fault. A report that is not in the table keeps the words of saxes.

import { type Fault, notWellFormed, short, shown } from '../../../../src/xml/fault.ts'

export interface Scene {
  /** The current piece up to the character at which the parser failed. */
  before: string
  /** Index of the first character of `before`. */
  at: number
  /** The element that is open or being opened. */
  element: { name: string } | null
  closed: { name: string; at: number }
}

/**
 * Rule returns the sentence and the place of the fault, counted from the start of `before`; the place can be negative.
 * `reference` is the place of an earlier tag that the sentence names.
 */
type Rule = (scene: Spot, detail: string) => [reason: string, place: number, reference?: number]

interface Spot extends Scene {
  /** Place of the last character in `before`, and that character. */
  last: number
  character: string
  /** Place of the last `<` up to that character. */
  markup: number
  tag: string
}

const quoteMissing = '"<" is not allowed in an attribute value; is a closing quote missing?'

const RULES: ReadonlyArray<readonly [RegExp, Rule]> = [
  [
    /^disallowed character\.$/,
    ({ character, last }) =>
      character === '<'
        ? [quoteMissing, last]
        : [`the character ${shown(character)} is not allowed in XML; leave it out`, last],
  ],
  [
    /^disallowed character in (?:attribute|tag) name/,
    ({ character, last, tag }) =>
      character === '<'
        ? [`the tag <${tag} is not closed: ">" is missing before this "<"`, last]
        : [`${shown(character)} is not allowed in the tag <${tag}>`, last],
  ],
  [
    /^disallowed character in closing tag/,
    ({ character, last, tag }) =>
      character === '<'
        ? [`the end tag </${tag} is not closed: ">" is missing before this "<"`, last]
        : [`${shown(character)} is not allowed in the end tag </${tag}>`, last],
  ],
  [
    /^(?:unexpected close tag|unmatched closing tag)/,
    ({ closed, markup, tag }) => [
      `the end tag </${tag}> does not match <${short(closed.name)}> opened in line {line}`,
      markup,
      closed.at,
    ],
  ],
  [
    /^duplicate attribute: (.*)\.$/,
    ({ before, last, markup, tag }, name) => {
      const local = name.replace(/^\{.*\}/, '')
      const found = before.lastIndexOf(`${local}=`, last)
      return [`<${tag}> has the attribute "${short(local)}" twice`, Math.max(found, markup)]
    },
  ],
  [
    /^attribute without value/,
    ({ last, tag }) => [`an attribute of <${tag}> has no value; write name="value"`, last],
  ],
  [
    /^unquoted attribute value/,
    ({ last, tag }) => [`an attribute value of <${tag}> must be put in quotes`, last],
  ],
  [
    /^no whitespace between attributes/,
    ({ last, tag }) => [`a space is missing between the attributes of <${tag}>`, last],
  ],
  [
    /^forward-slash in opening tag/,
    ({ last, tag }) => [`"/" in the tag <${tag}> must be followed by ">"`, last],
  ],
  [
    /^unbound namespace prefix: "(.*)"/,
    ({ markup, tag }, prefix) => [
      `the prefix "${short(prefix)}" in <${tag}> is not declared with xmlns:${short(prefix)}="…"`,
      markup,
    ],
  ],
  [
    /^malformed name: (.*)\.$/,
    ({ markup }, name) => [
      `"${short(name)}" is not a name: one ":" may separate a prefix and a name`,
      markup,
    ],
  ],
  [
    /^invalid attempt to undefine prefix/,
    ({ markup, tag }) => [`a namespace prefix in <${tag}> is declared with an empty value`, markup],
  ],
  [
    /xmlns|namespace/,
    ({ markup, tag }) => [
      `<${tag}> declares one of the reserved names xml and xmlns wrongly`,
      markup,
    ],
  ],
  [
    /^the string "]]>"/,
    ({ last }) => ['"]]>" must be written "]]&gt;" outside a CDATA section', last - 2],
  ],
  [/^malformed comment/, ({ last }) => ['"--" is not allowed inside a comment', last - 2]],
]

export function explain(message: string, scene: Scene): Fault {
  // saxes counts a surrogate pair, and CR LF, as one character.
  const pair = /[\ud800-\udbff][\udc00-\udfff]$|\r\n$/.test(scene.before)
  // A CR at the end of the previous piece comes again with this one, at place -1.
  const last = scene.before.length - (pair ? 2 : 1)
  const markup = Math.max(0, scene.before.lastIndexOf('<', last))
  const character = String.fromCodePoint(scene.before.codePointAt(last) ?? 0xd)
  const opening = character === '<' ? scene.before.lastIndexOf('<', last - 1) : markup
  const name = /^<\/?([^\s/>=<]*)/.exec(scene.before.slice(Math.max(0, opening)))?.[1]
  const tag = short(name ?? scene.element?.name ?? '')
  const spot: Spot = { ...scene, last, markup, character, tag }
  for (const [pattern, rule] of RULES) {
    const match = pattern.exec(message)
    if (match === null) continue
    const [reason, place, reference] = rule(spot, match[1] ?? '')
    const fault = notWellFormed(reason, scene.at + place)
    return reference === undefined ? fault : { ...fault, reference }
  }
  return notWellFormed(
    `the document is not well-formed here (${message.replace(/\.$/, '')})`,
    scene.at + last,
  )
}
