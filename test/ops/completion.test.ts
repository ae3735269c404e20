import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/program.ts'
import { STATES } from '../../src/history/port.ts'
import { systemClock } from '../../src/lib/clock.ts'

async function script(shell: string): Promise<string> {
  let text = ''
  await runCli(['completion', shell], {
    ...{ env: {}, clock: systemClock, terminal: false, exit: () => {}, err: () => {} },
    out: (line) => {
      text += `${line}\n`
    },
  })
  return text
}

/** What a real bash offers after these words. */
async function offered(...words: string[]): Promise<string[]> {
  const typed = ['feedsyncd', ...words].map((word) => `'${word}'`).join(' ')
  const asked = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _feedsyncd; printf '%s\\n' "\${COMPREPLY[@]}"`
  const input = `${await script('bash')}\n${asked}\n`
  const { stdout, stderr } = spawnSync('bash', ['--norc'], { input, encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  return stdout.split('\n').filter((line) => line !== '')
}

describe('completion bash', () => {
  it('offers commands, commands of commands, their options, and the values of an option', async () => {
    expect(await offered('sta')).toEqual(['status'])
    expect(await offered('config', '')).toEqual(['check', 'print', 'schema', '--config', '--help'])
    expect(await offered('status', '--st')).toEqual(['--state'])
    expect(await offered('status', '--state', '')).toEqual([...STATES])
    expect(await offered('--config', 'x.yaml', 'doctor', '--o')).toEqual(['--offline'])
  })

  it('leaves what is no command to the shell, for files', async () => {
    expect(await offered('check', '/tm')).toEqual([])
  })
})

describe.each(['zsh', 'fish'])('completion %s', (shell) => {
  it('names every command with its description', async () => {
    const text = await script(shell)

    for (const name of ['run', 'status', 'doctor', 'alerts', 'schema', 'release']) {
      expect(text).toContain(name)
    }
    expect(text).toContain('send a test message to every receiver')
  })

  if (spawnSync(shell, ['--version']).status === 0) {
    it('is text that the shell itself reads', async () => {
      const { stderr } = spawnSync(shell, ['-n'], { input: await script(shell), encoding: 'utf8' })

      expect(stderr).toBe('')
    })
  }
})
