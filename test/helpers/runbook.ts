// docs/runbook.md as commands: the lines behind `$` of its console blocks, each block with what has to be
// the case before it (`<!-- with: held -->`).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')

export const RUNBOOK = page('runbook.md')
export const SEVERAL_HOSTS = page('several-hosts.md')

export interface Block {
  heading: string
  /** null: the blocks before it have made it so. */
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

/** By contract these answer with what they found. */
export const answersByCode = (command: string) =>
  /^feedsyncd (status --check|check|doctor)\b/.test(command) || /^systemctl status/.test(command)
