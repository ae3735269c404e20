import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { silentLog } from '../../../src/lib/log.ts'
import { createNotifier } from '../../../src/ops/systemd/notifier.ts'
import {
  HAS_NOTIFY,
  HAS_PYTHON,
  NotifySocket,
  WITH_DESCRIPTOR,
} from '../../helpers/ops/notify-socket.ts'
import { MAIN, Site } from '../../helpers/site.ts'

it('there is no notifier if systemd expects no messages, or expects them of another process', () => {
  expect(createNotifier({ env: {}, log: silentLog, pid: 1 })).toBeNull()
  expect(
    createNotifier({ env: { LISTEN_PID: '2', LISTEN_FDNAMES: 'notify' }, log: silentLog, pid: 1 }),
  ).toBeNull()
})

if (HAS_NOTIFY) {
  describe('through systemd-notify', () => {
    it('the daemon reports that it is ready, with its status, then that it is alive, and then that it stops', async () => {
      const socket = await NotifySocket.open()
      await using site = await Site.open(
        {},
        { env: { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '500000' } },
      )
      await site.run('pause')
      const daemon = await site.daemonProcess()
      await socket.until(/^WATCHDOG=1$/, 2)
      daemon.kill('SIGTERM')
      const [code] = await once(daemon, 'exit')

      await socket.until(/^STOPPING=1/)
      const kinds = socket.messages.map(({ text }) => text.split('=')[0])
      expect(code).toBe(0)
      expect(kinds.filter((kind) => kind !== 'WATCHDOG' && kind !== 'STATUS')).toEqual([
        ...['READY', 'STOPPING'],
      ])
      expect(socket.messages[0]?.text).toMatch(/^READY=1\nSTATUS=nothing is sent: paused by \S+$/)
    })

    it('messages arrive in order, and their senders are still alive then', async () => {
      const socket = await NotifySocket.open()
      const env = { NOTIFY_SOCKET: socket.path }
      const notify = createNotifier({ env, log: silentLog, pid: process.pid })

      const sent = Array.from({ length: 20 }, (_, n) => notify?.(`STATUS=${n}`))
      await Promise.all(sent)

      await socket.until(/^STATUS=19$/)
      expect(socket.messages.map(({ text }) => text)).toEqual(
        Array.from({ length: 20 }, (_, n) => `STATUS=${n}`),
      )
      expect(socket.heard.filter(({ alive }) => !alive)).toEqual([])
    })

    it('a status that quotes a newline adds no field', async () => {
      const socket = await NotifySocket.open()
      const env = { NOTIFY_SOCKET: socket.path }
      const notify = createNotifier({ env, log: silentLog, pid: process.pid })

      await notify?.('STATUS=a\nMAINPID=1')

      await socket.until(/^STATUS=a MAINPID=1$/)
    })

    it('a missing socket does not stop the daemon', async () => {
      vi.stubEnv('NOTIFY_SOCKET', '/nonexistent/notify')
      await using site = await Site.open()
      const daemon = await site.daemon()

      expect((await daemon.stop()).code).toBe(0)
    })
  })
}

if (HAS_PYTHON) {
  it('with a descriptor of OpenFile= the daemon itself is the sender', async () => {
    const socket = await NotifySocket.open()
    await using site = await Site.open()
    const command = [process.execPath, MAIN, 'run', '--config', site.configFile]
    const daemon = spawn('python3', ['-c', WITH_DESCRIPTOR, socket.path, ...command], {
      stdio: 'ignore',
    })
    onTestFinished(() => void daemon.kill('SIGKILL'))

    await socket.until(/^READY=1/)
    daemon.kill('SIGTERM')
    await once(daemon, 'exit')

    await socket.until(/^STOPPING=1/)
    expect(new Set(socket.heard.map(({ pid }) => pid))).toEqual(new Set([daemon.pid]))
  })
}
