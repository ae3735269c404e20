// Plays systemd's side of sd_notify(3), in Python, because Node has no datagram sockets in the file system. It reports
// the sender of each message, and whether that process was still alive at the time of reading. It answers BARRIER=1 by
// closing the descriptor that came with it.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { eventually } from '../eventually.ts'

export interface Heard {
  pid: number
  alive: boolean
  text: string
}

const LISTENER = `
import array, json, os, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
print('{}', flush=True)
while True:
    data, parts, _, _ = s.recvmsg(65536, 4096)
    pid = 0
    for level, kind, value in parts:
        if kind == socket.SCM_CREDENTIALS: pid = struct.unpack('3i', value[:12])[0]
    alive = os.path.exists('/proc/%d' % pid)
    for level, kind, value in parts:
        if kind == socket.SCM_RIGHTS:
            fds = array.array('i'); fds.frombytes(value[:len(value) - len(value) % 4])
            for fd in fds: os.close(fd)
    print(json.dumps({'pid': pid, 'alive': alive, 'text': data.decode()}), flush=True)
`

/** This script runs the rest of its arguments with a connected socket as descriptor 3, as OpenFile= does. */
export const WITH_DESCRIPTOR = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(sys.argv[1])
if s.fileno() == 3: os.set_inheritable(3, True)
else: os.dup2(s.fileno(), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1', LISTEN_FDNAMES='notify')
os.execv(sys.argv[2], sys.argv[2:])
`

export const HAS_PYTHON = spawnSync('python3', ['-c', '']).status === 0
export const HAS_NOTIFY = HAS_PYTHON && existsSync('/usr/bin/systemd-notify')

export class NotifySocket {
  readonly path: string
  readonly heard: Heard[] = []

  private constructor(path: string) {
    this.path = path
  }

  static async open(): Promise<NotifySocket> {
    const folder = mkdtempSync(join(tmpdir(), 'notify-'))
    const socket = new NotifySocket(join(folder, 's'))
    const child = spawn('python3', ['-c', LISTENER, socket.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })
    onTestFinished(async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    })
    await once(lines, 'line')
    lines.on('line', (line) => socket.heard.push(JSON.parse(line)))
    return socket
  }

  /** messages returns the messages so far, without the barriers that systemd-notify adds. */
  get messages(): Heard[] {
    return this.heard.filter(({ text }) => text !== 'BARRIER=1')
  }

  async until(text: RegExp, times = 1): Promise<void> {
    await eventually(() => {
      const found = this.messages.filter((message) => text.test(message.text)).length
      if (found < times) throw new Error(`${text} in ${JSON.stringify(this.messages)}`)
    })
  }
}
