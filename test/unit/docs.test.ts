import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const find = (...patterns: string[]) =>
  patterns.flatMap((one) => globSync(one, { cwd: ROOT })).sort()
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const pages = find('*.md', 'docs/*.md', 'src/**/*.md', 'systemd/**/*.md')
const sources = find(
  ...['src/**/*.ts', 'test/**/*.ts', 'bench/*.ts', 'systemd/**/*.ts', 'config/*.yaml'],
  ...['systemd/*.service', 'Dockerfile', '.ci/run'],
).filter(
  (file) => file !== 'test/unit/docs.test.ts' && file !== 'test/unit/feed/record-path.test.ts',
)

/** linesWith returns the matching lines of all these files, as `file:line: text`. */
function linesWith(files: readonly string[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, i) => (pattern.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  )
}

/** anchorsOf returns the anchors that the headings of a page get. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
}

describe('pages and comments', () => {
  it('link to pages and headings that exist', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]*)\)/g)].flatMap(([, link = '']) => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(ROOT, target))) return [`${page}: ${link}`]
        const isKnown = anchor === undefined || anchorsOf(target).includes(anchor)
        return isKnown ? [] : [`${page}: ${link}`]
      }),
    )

    expect(pages.length).toBeGreaterThan(10)
    expect(broken).toEqual([])
  })

  it('name only pages of the repository', () => {
    const named = sources.flatMap((file) =>
      [...read(file).matchAll(/(?<![\w/.{}-])((?:[\w-]+\/)*[\w-]+\.md)\b/g)]
        .map(([, page = '']) => page)
        .filter(
          (page) => !['', 'docs', dirname(file)].some((at) => existsSync(join(ROOT, at, page))),
        )
        .map((page) => `${file}: ${page}`),
    )

    expect(named).toEqual([])
  })

  it('cite no document outside the repository', () => {
    const citations =
      /\b(design (section|§)|section \d+ of the design|finding \d|\bresearch\/|review\/|(the|upload|of|on|see) research\b|research on\b)/i

    expect(linesWith([...sources, ...pages], citations)).toEqual([])
  })

  it('are all listed in docs/README.md', () => {
    const index = read('docs/README.md')
    const missing = pages.filter(
      (page) => page !== 'docs/README.md' && !index.includes(page.replace(/^docs\//, '')),
    )

    expect(missing).toEqual([])
  })

  it('use no word that the glossary replaces', () => {
    const glossary = read('docs/architecture.md').split('## Glossary')[1] ?? ''
    const replaced = [...glossary.matchAll(/^\|[^|]*\|[^|]*\|([^|]*)\|$/gm)]
      .map(([, words = '']) => words.trim())
      .filter((words) => words !== '' && words !== 'instead of' && !/^-+$/.test(words))
      .flatMap((words) => words.split(', '))
    const files = [...sources, ...pages].filter((file) => file !== 'docs/architecture.md')

    expect(replaced.length).toBeGreaterThan(5)
    expect(linesWith(files, new RegExp(`\\b(${replaced.join('|')})\\b`, 'i'))).toEqual([])
  })
})
