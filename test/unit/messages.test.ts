import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAst } from 'vitest/node'
import { FORMS } from '../../src/domain/command.ts'

const SRC = join(import.meta.dirname, '..', '..', 'src')

interface Node {
  type: string
  start: number
  value?: unknown
  quasis?: readonly { value: { cooked: string } }[]
  [key: string]: unknown
}

/** messagesOf returns the texts of a file that people read, in their order. */
const messagesOf = (file: string) => textsOf(file).filter(isProse)

/** textsOf returns all texts of a file in their order. `{}` stands for a value. */
function textsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  const found: [number, string][] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      node.forEach(visit)
      return
    }
    if (typeof node !== 'object' || node === null || !('type' in node)) return
    const { type, start, value, quasis } = node as Node
    if (type === 'ImportDeclaration') return
    if (type === 'Literal' && typeof value === 'string') found.push([start, value])
    if (type === 'TemplateLiteral' && quasis !== undefined) {
      found.push([start, quasis.map((one) => one.value.cooked).join('{}')])
    }
    Object.values(node).forEach(visit)
  }
  visit(parseAst(stripTypeScriptTypes(text)))
  return found.sort(([a], [b]) => a - b).map(([, message]) => message.trim())
}

/** isProse returns whether a text has three words in a row and is neither SQL nor CSS. */
function isProse(text: string): boolean {
  return (
    /(?:^|[^\w-])[A-Za-z’']+,? [a-z’']+,? [a-z{]/.test(text) &&
    !/\b(SELECT|INSERT|UPDATE|DELETE FROM|CREATE (TABLE|INDEX|TRIGGER)|PRAGMA)\b/.test(text) &&
    !/^\s*[.@:\w#-][^{}]*\{[^{}]*:[^{}]*;/m.test(text)
  )
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort()

const rooms = [...new Set(files.map((file) => file.split('/')[0] ?? file))]

/** The first words of all commands that a hint can suggest. */
const COMMANDS = [...new Set(FORMS.map((form) => form.split(' ', 1)[0] ?? ''))]

describe('every sentence that people may read', () => {
  for (const room of rooms.filter((name) => name !== 'main.ts')) {
    it(`is listed in test/unit/messages/${room}.txt: review changes there, then run this with -u`, async () => {
      const pages = files
        .filter((file) => file.startsWith(`${room}/`))
        .map((file) => ({ file, messages: messagesOf(file) }))
        .filter(({ messages }) => messages.length > 0)
        .map(({ file, messages }) => [`# ${file}`, ...messages, ''].join('\n'))

      await expect(pages.join('\n')).toMatchFileSnapshot(`messages/${room}.txt`)
    })
  }
})

it('no message names a command: domain/command.ts makes every one of them', () => {
  const named = new RegExp(`^(?!docker ).*(?<![\\w/@.-])feedsyncd (${COMMANDS.join('|')})\\b`, 's')
  const wrong = files
    .filter((file) => !/^(cli\/completion|app\/unit-state)\.ts$|^sandbox\//.test(file))
    .flatMap(textsOf)
    .filter((text) => named.test(text))

  expect(COMMANDS.length).toBeGreaterThan(10)
  expect(wrong).toEqual([])
})
