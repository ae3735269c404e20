import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { sandboxFolder } from '../../helpers/sandbox/process.ts'
import { MAIN } from '../../helpers/site.ts'

/** directoryWith makes a directory with a file of these faults. */
function directoryWith(faults: object[]): string {
  const directory = sandboxFolder()
  writeFileSync(join(directory, 'faults.json'), JSON.stringify(faults))
  return directory
}

function start(directory: string) {
  const where = ['--dir', directory, '--faults', join(directory, 'faults.json')]
  const child = spawn(process.execPath, [MAIN, 'sandbox', '--json', ...where], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit')
  return child.exitCode
}

it.each([
  [{ at: 'storage', kind: 'throttle' }, 'faults[0].bytesPerSecond: expected a number'],
  [{ at: 'storage', kind: 'refuse', how: 'rst', key: 'a' }, 'leave out "key"'],
])(
  'feedsyncd sandbox exits 64 with the reason if its faults are wrong: %j',
  async (fault, reason) => {
    const child = start(directoryWith([fault]))

    const [stderr, code] = await Promise.all([text(child.stderr), ended(child)])

    expect(stderr).toContain(reason)
    expect(code).toBe(64)
  },
)

it('feedsyncd sandbox plays the faults of its file', async () => {
  const directory = directoryWith([{ at: 'service', kind: 'answer', status: 418 }])
  const child = start(directory)
  const [line] = await once(createInterface(child.stdout), 'line')

  const answer = await fetch(`${JSON.parse(line).url}/v1/campaigns`)

  expect(answer.status).toBe(418)
})
