// Reads JSON whose objects keep all members in the order of the text. A JavaScript object moves names that are integers
// to the front, and keeps only one of two equal names.

/** Members are the members of a JSON object, in the order of the text. */
export class Members extends Array<readonly [name: string, value: unknown]> {}

/**
 * TOKEN matches a string, a bracket, a colon or comma, a number, or a word such as `true`. In valid JSON, only spaces
 * lie between two matches.
 */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g

/** parseInOrder returns what JSON.parse returns, with `Members` for objects. Throws SyntaxError if it is not JSON. */
export function parseInOrder(text: string): unknown {
  JSON.parse(text)
  const root: unknown[] = []
  const open: unknown[][] = [root]
  let name: string | null = null
  const add = (value: unknown) => {
    const list = open.at(-1)
    if (!(list instanceof Members)) list?.push(value)
    else if (name !== null) list.push([name, value])
    name = null
  }
  // `open` has the unfinished lists from the outermost to the innermost; `name` is the name before the next value.
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      const inner = token === '{' ? new Members() : []
      add(inner)
      open.push(inner)
    } else if (token === '}' || token === ']') open.pop()
    else if (token === ',' || token === ':') continue
    else if (open.at(-1) instanceof Members && name === null) name = JSON.parse(token)
    else add(JSON.parse(token))
  }
  return root[0]
}
