// A second opinion about the fields of a feed: saxes reads the document, and simple code follows the paths.

import { SaxesParser } from 'saxes'
import type { FoundPaths } from '../../src/feed/port.ts'

interface Element {
  name: string
  attributes: Record<string, string>
  children: Element[]
  text: string
}

function parsed(document: string): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [top]
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => {
    const element = {
      name,
      attributes: attributes as Record<string, string>,
      children: [],
      text: '',
    }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  const add = (text: string) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += text
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('closetag', () => void open.pop())
  parser.write(document).close()
  return top
}

const local = (name: string) => name.slice(name.indexOf(':') + 1)

function below(elements: Element[], step: string): Element[] {
  const [, name, attribute, value] = /^([^[]+)(?:\[@(.+)='(.*)'\])?$/.exec(step) ?? []
  return elements
    .flatMap(({ children }) => children)
    .filter((child) => child.name === name || local(child.name) === name)
    .filter(({ attributes }) => attribute === undefined || attributes[attribute] === value)
}

/** valueAt returns the first value that is not empty. */
function valueAt(record: Element, path: string): string | undefined {
  const steps = path.split('/')
  const attribute = steps.at(-1)?.startsWith('@') ? steps.pop()?.slice(1) : undefined
  const found = steps.reduce(below, [record])
  const values = found.map(({ attributes, text }) =>
    attribute === undefined ? text : (attributes[attribute] ?? ''),
  )
  return values.map((value) => value.trim()).find((value) => value !== '')
}

/** bySaxes returns the values that saxes finds at these paths, posting by posting. */
export function bySaxes(
  document: string,
  records: string,
  fields: FoundPaths,
): Record<string, string>[] {
  const found = records
    .split('/')
    .slice(1)
    .reduce(below, [parsed(document)])
  return found.map((record) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([field, path]) => {
        const value = path === null ? undefined : valueAt(record, path)
        return value === undefined ? [] : [[field, value]]
      }),
    ),
  )
}
