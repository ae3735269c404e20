import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { STATES } from '../../../src/domain/states.ts'
import { commandTable } from '../../../systemd/package/command-table.ts'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { runWithin } from '../../helpers/command.ts'

async function script(shell: string): Promise<string> {
  return (await runWithin(['completion', shell])).stdout
}

/** offered returns what a real bash offers after these words. */
async function offered(...words: string[]): Promise<string[]> {
  const typed = ['feedsyncd', ...words].map((word) => `'${word}'`).join(' ')
  const asked = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _feedsyncd; printf '%s\\n' "\${COMPREPLY[@]}"`
  const program = `feedsyncd() { printf '%s\\n' "$2 1" "$2 2"; }`
  const input = `${program}\n${await script('bash')}\n${asked}\n`
  const { stdout, stderr } = spawnSync('bash', ['--norc'], { input, encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  return stdout.split('\n').filter((line) => line !== '')
}

describe('completion bash', () => {
  it('offers commands, subcommands, options, and the values of an option', async () => {
    expect(await offered('sta')).toEqual(['status'])
    expect(await offered('config', '')).toEqual(['check', 'print', 'schema', '--config', '--help'])
    expect(await offered('status', '--st')).toEqual(['--state'])
    expect(await offered('status', '--state', '')).toEqual([...STATES])
    expect(await offered('--config', 'x.yaml', 'doctor', '--o')).toEqual(['--offline'])
  })

  it('offers the ids, feeds and keys that the program lists, and no ids of campaigns', async () => {
    expect(await offered('show', '')).toEqual(
      expect.arrayContaining(['names 1', 'names 2', '--all']),
    )
    expect(await offered('status', 'feeds')).toEqual(['feeds 1', 'feeds 2'])
    for (const command of ['preview', 'plan', 'forget'])
      expect(await offered('campaigns', command, 'k')).toEqual(['keys 1', 'keys 2'])
    expect(await offered('campaigns', 'get', '')).not.toContain('ids 1')
  })

  it('gets the keys of all entries that the daemon saw or that have a campaign', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A'), entry('B')))
    await vendor.apply('A')

    const keys = await vendor.site.run('completion', 'keys')

    expect(keys).toMatchObject({ code: 0, stdout: 'A\nB\n' })
  })

  it('leaves file names to the shell', async () => {
    expect(await offered('check', '/tm')).toEqual([])
  })
})

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0

function answered(shell: string, args: string[]): string[] {
  const { stdout, stderr } = spawnSync(shell, args, { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((line) => line !== '')
}

describe.skipIf(!has('zsh'))('completion zsh, in a real zsh', () => {
  /** offer loads the script as zsh loads an installed file: the first completion is also its first use. */
  const offer = async (...words: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'feedsyncd-zsh-'))
    writeFileSync(join(folder, '_feedsyncd'), await script('zsh'))
    const asked = `fpath=(${folder}); autoload -Uz _feedsyncd
      _files() { : }
      _describe() { print -l -- "\${(@P)3}" }
      words=(feedsyncd ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}
      _feedsyncd`
    try {
      return answered('zsh', ['-f', '-c', asked]).map((line) => line.replace(/:.*/, ''))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  it('offers commands, subcommands, options, and the values of an option', async () => {
    expect(await offer('')).toContain('status')
    expect(await offer('config', '')).toEqual(['check', 'print', 'schema', '--config', '--help'])
    expect(await offer('status', '--state', '')).toEqual([...STATES])
  })
})

describe.skipIf(!has('fish'))('completion fish, in a real fish', () => {
  const program = "function feedsyncd; printf '%s\\n' $argv[2]-1 $argv[2]-2; end"
  const offer = async (line: string) => {
    const asked = `${program}\n${await script('fish')}\ncomplete -C '${line}'`
    return answered('fish', ['--no-config', '-c', asked]).map((words) => words.replace(/\t.*/, ''))
  }

  it('offers commands, subcommands, options, and the values of an option', async () => {
    expect(await offer('feedsyncd sta')).toEqual(['status'])
    expect(await offer('feedsyncd config ')).toEqual(
      expect.arrayContaining(['check', 'print', 'schema']),
    )
    expect((await offer('feedsyncd status --state ')).sort()).toEqual([...STATES].sort())
    expect(await offer('feedsyncd status --wa')).toEqual(['--watch'])
    expect(await offer('feedsyncd status fe')).toEqual(['feeds-1', 'feeds-2'])
  })
})

describe.each(['zsh', 'fish'])('completion %s', (shell) => {
  it('names every command with its description', async () => {
    const text = (await script(shell)).replaceAll("'\\''", "'")
    const commandsOf = ({ commands }: Command): Command[] =>
      commands.flatMap((command) => [command, ...commandsOf(command)])
    const commands = commandsOf(commandTable.program())

    expect(commands.length).toBeGreaterThan(20)
    for (const command of commands) {
      const [name, description] = [command.name(), command.description()]
      const line = shell === 'zsh' ? `'${name}:${description}'` : `-a ${name} -d '${description}'`
      expect(text).toContain(line)
    }
  })

  if (has(shell)) {
    it('is valid code for the shell', async () => {
      expect(answered(shell, ['-n', '-c', await script(shell)])).toEqual([])
    })
  }
})
