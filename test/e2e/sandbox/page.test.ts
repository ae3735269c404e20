import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { MAIN } from '../../helpers/site.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/sandbox.md'), 'utf8')
const blocks = (language: string) =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  )
const isThere = (program: string) => spawnSync(program, ['--version']).error === undefined

/** startHere makes a directory with a `feedsyncd` command, and starts the sandbox there with the page's command. */
async function startHere() {
  const root = mkdtempSync(join(tmpdir(), 'feedsyncd-page-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const program = join(root, 'feedsyncd')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
  chmodSync(program, 0o755)
  // Another program may have the port of the page.
  const [, ...args] = (blocks('sh')[0] ?? '').trim().replace('8080', '0').split(' ')
  const child = spawn(program, [...args, '--json'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(createInterface(child.stdout), 'line')
  return { root, url: JSON.parse(line).url as string }
}

describe('docs/sandbox.md', () => {
  it.skipIf(!isThere('curl') || !isThere('jq'))(
    'shows the real output of its examples',
    async () => {
      const { root, url } = await startHere()
      const functions = blocks('sh').find((text) => text.includes('call()')) ?? ''
      const here = functions.replace('http://127.0.0.1:8080', new URL(url).origin)
      const examples = blocks('console').join('')
      const commands = examples.split('\n').filter((line) => line.startsWith('$ '))
      const script = commands.map((line) => [`cat <<'COMMAND'\n${line}\nCOMMAND`, line.slice(2)])

      const output = execFileSync('bash', ['-c', [here, ...script.flat()].join('\n')], {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${root}:${process.env.PATH}` },
      })

      expect(commands.length).toBeGreaterThan(30)
      expect(output).toBe(examples)
    },
  )

  it('shows a client that makes the whole tour', async () => {
    const { root } = await startHere()
    writeFileSync(join(root, 'tour.mjs'), blocks('js')[0] ?? '')

    const output = execFileSync(process.execPath, ['tour.mjs', 'sandbox/sandbox.json'], {
      cwd: root,
      encoding: 'utf8',
    })

    expect(output.trim().split(/\s*\n/)).toEqual([
      ...['create   Night nurses', 'search   1', 'read     100', 'update   250', 'form     8'],
      ...['upload   201', 'back     true', 'sponsors 2'],
    ])
  })

  it.skipIf(!isThere('python3'))(
    'shows a client in Python that uploads a feed and sponsors its posting',
    async () => {
      const { root } = await startHere()
      writeFileSync(join(root, 'tour.py'), blocks('python')[0] ?? '')

      const output = execFileSync('python3', ['tour.py', 'sandbox/sandbox.json'], {
        cwd: root,
        encoding: 'utf8',
      })

      expect(output).toBe('upload 201\nback True\nsponsors 1\n')
    },
  )

  it.skipIf(!isThere('curl'))(
    'shows a CI job that starts a healthy sandbox with its own key',
    async () => {
      const root = mkdtempSync(join(tmpdir(), 'feedsyncd-job-'))
      onTestFinished(() => rmSync(root, { recursive: true }))
      const { steps } = parse(blocks('yaml')[0] ?? '') as { steps: { run: string }[] }
      const [start = '', ready = '', health = ''] = steps.map(({ run }) => run)
      const [, ...args] = start.replace(' &', '').replace('8080', '0').split(' ')
      const child = spawn(process.execPath, [MAIN, ...args], { cwd: root, stdio: 'ignore' })
      onTestFinished(() => void child.kill('SIGKILL'))
      execFileSync('bash', ['-c', ready], { cwd: root })
      const { url } = JSON.parse(readFileSync(join(root, 'ready.json'), 'utf8'))

      const output = execFileSync(
        'bash',
        ['-c', health.replace('http://127.0.0.1:8080', new URL(url).origin)],
        { cwd: root, encoding: 'utf8' },
      )

      expect(JSON.parse(output)).toMatchObject({ status: 'ok', url })
      expect(readFileSync(join(root, 'sandbox/service.key'), 'utf8')).toBe('test-key\n')
    },
  )

  it('shows a test vector of the signature', () => {
    const value = (name: string) =>
      new RegExp(`^\\| ${name} +\\| \`([^\`]*)\``, 'm').exec(PAGE)?.[1] ?? ''

    const signature = createHmac('sha1', value('key')).update(value('string')).digest('base64')

    expect(signature).toBe(value('signature'))
    expect(value('string')).toContain(value('`X-SVC-Date`'))
  })

  it('names every knob, fault and option', async () => {
    const sources = join(import.meta.dirname, '../../../src')
    const namesIn = (file: string, pattern: RegExp) =>
      [...readFileSync(join(sources, file), 'utf8').matchAll(pattern)].map(([, name]) => name)
    const knobs = namesIn('sandbox/knobs.ts', /^ {2}(\w+): z\./gm)
    const kinds = namesIn('sandbox/faults/fault-types.ts', /fault\((?:BOTH|\['\w+'\]), '([\w-]+)'/g)
    const options = namesIn('cli/sandbox.ts', /'--([\w-]+)/g)

    const missing = [
      ...knobs.filter((name) => !PAGE.includes(`| \`${name}\``)),
      ...kinds.filter((name) => !PAGE.includes(`"kind":"${name}"`)),
      ...options.filter((name) => !PAGE.includes(`--${name}`)),
    ]

    expect([knobs.length, kinds.length]).toEqual([15, 23])
    expect(missing).toEqual([])
  })
})

describe('the page at / of the sandbox', () => {
  it('shows clock, faults, campaigns, objects and requests, has a dark style, and escapes markup', async () => {
    const { root, url } = await startHere()
    const name = '<script>alert("x")</script>'
    const signed = execFileSync(
      join(root, 'feedsyncd'),
      ['sandbox', 'sign', 'POST', '/v1/campaigns', '--partner', '--data', JSON.stringify({ name })],
      { cwd: root, encoding: 'utf8' },
    )
    const headers = [...signed.matchAll(/^header = "([\w-]+): (.*)"$/gm)].map(
      ([, key = '', value = '']): [string, string] => [key, value],
    )
    const body = JSON.stringify({ name })
    const made = await fetch(`${url}/v1/campaigns`, { method: 'POST', headers, body })

    const page = await (await fetch(new URL(url).origin)).text()

    expect(made.status).toBe(200)
    expect(page).toContain('<h2>Campaigns <span class="dim">1</span></h2>')
    expect(page).toContain('<h2>Objects <span class="dim">0</span></h2>')
    expect(page).toContain('<h2>Faults <span class="dim">0</span></h2>')
    expect(page).toContain('prefers-color-scheme: dark')
    expect(page).toContain('<dt>Clock</dt>')
    expect(page).toContain('&#60;script&#62;')
    expect(page).not.toContain('<script>')
    expect(page).toContain('<td>campaign-create</td><td>42</td><td>200</td>')
  })
})
