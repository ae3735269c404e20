// Reads the commands of docs/runbook.md: the lines after `$` in its console blocks, each block with the situation that
// it needs (`<!-- with: held -->`).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')

export const RUNBOOK = page('runbook.md')
export const SEVERAL_HOSTS = page('several-hosts.md')

export interface Block {
  heading: string
  /** The name of the situation that the commands need; null if the earlier blocks created the situation. */
  situation: string | null
  commands: string[]
}

export function blocks(text = RUNBOOK): Block[] {
  const found: Block[] = []
  for (const section of text.split(/^(?=##+ )/m)) {
    const heading = /^#+ (.*)/.exec(section)?.[1] ?? ''
    for (const match of section.matchAll(
      /(?:<!-- with: (.+) -->\s+)?^```console\n([\s\S]*?)^```$/gm,
    )) {
      const [, situation = null, lines = ''] = match
      const commands = lines.split(/^\$ /m).slice(1)
      found.push({ heading, situation, commands: commands.map((one) => one.trimEnd()) })
    }
  }
  return found
}

/** answersByCode returns whether a command reports its findings by its exit code, which then can differ from 0. */
export const answersByCode = (command: string) =>
  /^feedsyncd (status --check|check|diff|doctor)\b/.test(command) ||
  /^systemctl status/.test(command)
