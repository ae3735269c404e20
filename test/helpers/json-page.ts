// The fields that docs/json.md names for each command, and the fields of an answer.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'json.md'), 'utf8')

interface Field {
  name: string
  type: string
}

/** The rows of the tables, by the heading above them. */
const SECTIONS = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((section): [string, Field[]] => {
      const [heading = ''] = section.split('\n')
      const rows = [...section.matchAll(/^\| `([^`]+)` +\| (.*?) +\| /gm)]
      return [heading, rows.map(([, name = '', type = '']) => ({ name, type }))]
    }),
)

/** Sections that only other sections use. */
const SHARED = ['Problems', 'Version', 'Campaign', 'Campaign entry', 'Campaign finding']
const ANCHORS: Record<string, string> = { '#problems': 'Problems' }

function shared(type: string): Field[] | null {
  const [, anchor = ''] = /\[[^\]]+\]\((#[\w-]+)\)/.exec(type) ?? []
  const heading = [...SECTIONS.keys()].find(
    (each) => `#${each.toLowerCase().replaceAll(' ', '-')}` === anchor,
  )
  const known = SECTIONS.get(heading ?? ANCHORS[anchor] ?? '')
  return known === undefined ? null : expanded(known)
}

function expanded(fields: readonly Field[], before = ''): Field[] {
  return fields.flatMap(({ name, type }) => {
    const inner = shared(type)
    if (inner === null) return [{ name: before + name, type }]
    const own = { name: before + name, type: 'object' }
    return [own, ...inner.map((field) => ({ ...field, name: `${before}${name}.${field.name}` }))]
  })
}

/** headingFor returns the heading of a command's section; `variant` picks one of several, such as `show FEED`. */
export function headingFor(command: string, variant: string = command): string {
  const headings = [...SECTIONS.keys()].filter((heading) => !SHARED.includes(heading))
  const found =
    headings.find((heading) => heading.includes(`\`${variant}\``)) ??
    headings.find((heading) => {
      const [group = '', last = ''] = command.split(' ')
      return last !== '' && heading.startsWith(`\`${group} `) && heading.includes(`\`${last}\``)
    })
  if (found === undefined) throw new Error(`docs/json.md has no section for ${variant}`)
  return found
}

/** fieldsOf returns the fields that the page names below a heading, with the fields of the objects that it links to. */
export function fieldsOf(heading: string): Field[] {
  const fields = SECTIONS.get(heading) ?? []
  const version = SECTIONS.get('Version') ?? []
  const plan = SECTIONS.get('Campaign plan') ?? []
  if (heading === '`show`') return expanded([...version, ...fields])
  if (heading.includes('`discard`')) return expanded([...version, ...fields])
  return heading === '`campaigns plan`' ? expanded(plan) : expanded(fields)
}

/** pathsOf returns the path of each value of an answer: `uploads[].id`. */
export function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => pathsOf(each, `${path}[]`))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, each]) =>
      pathsOf(each, path === '' ? name : `${path}.${name}`),
    )
  }
  return [path]
}

/** namedBy returns the field that names a path; a field of the type `any` names everything below it. */
export function namedBy(path: string, fields: readonly Field[]): Field | undefined {
  return fields.find(({ name, type }) => {
    const pattern = name.replace(/[.[\]]/g, '\\$&').replace(/\{\w+\}/g, '[^.]+')
    const isWhole = new RegExp(`^${pattern}$`, 's').test(path)
    // A null stands for the whole object or list.
    const isAbove = name.startsWith(`${path}.`) || name.startsWith(`${path}[]`)
    return isWhole || isAbove || (type === 'any' && new RegExp(`^${pattern}[.[]`, 's').test(path))
  })
}
