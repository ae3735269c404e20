// The program loads only the command that it needs. Help, suggestions and options must not depend on that.

import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { buildProgram } from '../../../src/cli/program.ts'
import { VERSION } from '../../../src/lib/version.ts'
import type { Context } from '../../../src/terminal/context.ts'
import { runWithin } from '../../helpers/command.ts'

async function cli(...args: string[]): Promise<{ said: string; code: number | null }> {
  const { stdout, stderr, code } = await runWithin(args)
  return { said: (stdout + stderr).trimEnd(), code }
}

async function names(): Promise<string[]> {
  const program = await buildProgram({ out: () => {} } as unknown as Context)
  const found = program.commands.map((command) => command.name())
  expect(found).toContain('status')
  return found
}

describe('the command table', () => {
  it('gives each command the name that its own help shows', async () => {
    for (const name of await names()) {
      expect((await cli(name, '--help')).said).toMatch(new RegExp(`^Usage: feedsyncd ${name}\\b`))
    }
  })

  it('lists every command in the help, even if the next word names a command', async () => {
    const { said } = await cli('--help', 'status')

    for (const name of await names()) expect(said).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  })

  it('shows --config and a valid example in the help of each command', async () => {
    const program = await buildProgram({ out: () => {} } as unknown as Context)
    const leaves = (command: Command, path: string[]): [Command, string[]][] =>
      command.commands.flatMap((inner) => {
        const at = [...path, inner.name()]
        const deeper = leaves(inner, at)
        return deeper.length === 0 || path.length > 0 ? [[inner, at], ...deeper] : deeper
      })

    for (const [command, path] of leaves(program, [])) {
      const { said } = await cli(...path, '--help')
      expect(said).toContain('--config <file>')
      const example = said.split('\nExample: feedsyncd ')[1] ?? `no example of ${path.join(' ')}`
      const words = example.split(/ > |, then/)[0]?.split(' ') ?? []
      expect(words.slice(0, path.length)).toEqual(path)
      const options = ['--config', ...command.options.flatMap(({ long, short }) => [long, short])]
      const given = words.filter((word) => word.startsWith('-'))
      expect(options).toEqual(expect.arrayContaining(given))
    }
  })

  it.each(['-V', '--version'])('prints the version for %s', async (option) => {
    expect((await cli(option)).said).toBe(VERSION)
  })

  it('suggests the nearest command, even if a later word is a command', async () => {
    const { said, code } = await cli('statsu', '--state', 'run')

    expect(said).toMatch(/^error: unknown command 'statsu' \(Did you mean status\?\)\ntry: /)
    expect(code).toBe(64)
  })

  it('accepts --config before the command, even if the file is named like a command', async () => {
    const { said, code } = await cli('--config', 'run', 'status')

    expect({ said, code }).toMatchObject({
      said: expect.stringMatching(/^error: the configuration file run does not exist \(ENOENT\)\n/),
      code: 78,
    })
  })
})
