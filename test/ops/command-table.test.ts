// Commands are loaded one by one; nobody must notice.

import { describe, expect, it } from 'vitest'
import type { Context } from '../../src/cli/context.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { runWithin } from '../helpers/command.ts'

async function cli(...args: string[]): Promise<{ said: string; code: number | null }> {
  const { stdout, stderr, code } = await runWithin(args)
  return { said: (stdout + stderr).trimEnd(), code }
}

async function names(): Promise<string[]> {
  const program = await buildProgram({ out: () => {} } as unknown as Context)
  return program.commands.map((command) => command.name())
}

describe('the command table', () => {
  it('names each command as the command names itself', async () => {
    for (const name of await names()) {
      expect((await cli(name, '--help')).said).toMatch(new RegExp(`^Usage: feedsyncd ${name}\\b`))
    }
  })

  it('lists every command in the help, also after words that name one', async () => {
    const { said } = await cli('--help', 'status')

    for (const name of await names()) expect(said).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  })

  it('suggests the command that was meant, although a later word is a command', async () => {
    const { said, code } = await cli('statsu', '--state', 'run')

    expect(said).toMatch(/^error: unknown command 'statsu' \(Did you mean status\?\)\ntry: /)
    expect(code).toBe(64)
  })

  it('takes the configuration before the command, even where its file is called like one', async () => {
    const { said, code } = await cli('--config', 'run', 'status')

    expect({ said, code }).toMatchObject({
      said: expect.stringMatching(/^error: there is no configuration file run\n/),
      code: 78,
    })
  })
})
