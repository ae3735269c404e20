import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')

interface Instruction {
  name: string
  rest: string
}

/** stages returns the instructions of each build stage. */
function stages(): Instruction[][] {
  const stages: Instruction[][] = []
  for (const line of read('Dockerfile')
    .replace(/\\\n\s*/g, '')
    .split('\n')) {
    const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    if (name === undefined || rest === undefined) continue
    if (name === 'FROM') stages.push([])
    stages.at(-1)?.push({ name, rest })
  }
  return stages
}

const final = () => stages().at(-1) ?? []
const only = (name: string) => final().flatMap((each) => (each.name === name ? [each.rest] : []))

describe('the image', () => {
  it('has a stage to build and a stage to ship, both on the Node version that the project pins', () => {
    const bases = stages().map(([from]) => from?.rest.split(' ')[0])

    expect(bases).toEqual(Array(2).fill(`node:${read('.node-version').trim()}-bookworm-slim`))
  })

  it('runs nothing in its final stage, and copies neither sources nor tests into it', () => {
    expect(only('RUN')).toEqual([])
    expect(only('COPY').length).toBeGreaterThan(0)
    expect(only('COPY').filter((copy) => /\b(src|test)\b/.test(copy))).toEqual([])
  })

  it('runs as a numeric user that is not root', () => {
    expect(only('USER')).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)])
  })

  it('runs the daemon by dist/main.js without a shell, and is stopped by SIGTERM', () => {
    expect(only('ENTRYPOINT').map((text) => JSON.parse(text))).toEqual([['/app/dist/main.js']])
    expect(only('CMD').map((text) => JSON.parse(text))).toEqual([['run']])
    expect(only('STOPSIGNAL')).toEqual(['SIGTERM'])
  })

  it('checks its health with status --live, without a shell', () => {
    const [command] = only('HEALTHCHECK').map((text) => /CMD\s*(\[.*\])$/.exec(text)?.[1] ?? '')

    expect(JSON.parse(command ?? '')).toEqual(['/app/dist/main.js', 'status', '--live'])
  })

  it('copies only files that exist and that .dockerignore does not exclude', () => {
    const ignored = read('.dockerignore').trim().split('\n')
    const copied = stages()
      .flat()
      .filter(({ name, rest }) => name === 'COPY' && !rest.includes('--from'))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1))

    expect(copied.length).toBeGreaterThan(0)
    expect(
      copied.filter((path) => !existsSync(join(ROOT, path)) || ignored.includes(path)),
    ).toEqual([])
  })
})
