// A program in the place of systemctl, which answers `systemctl show` with these properties.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export function fakeSystemctl(properties: Record<string, string>): { env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(tmpdir(), 'systemctl-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const lines = Object.entries(properties).map(([name, value]) => `echo '${name}=${value}'`)
  const file = join(folder, 'systemctl')
  writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\n`)
  chmodSync(file, 0o755)
  return { env: { PATH: `${folder}:/bin:/usr/bin` } }
}
