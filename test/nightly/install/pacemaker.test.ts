// Two hosts under Pacemaker, set up by docs/several-hosts.md: two machines with systemd, Corosync and the package, a
// disk that moves between them, and a fencing device that switches a machine off. The test runs
// systemd/examples/pacemaker.sh and changes only the device and the fence agent. It needs root, debootstrap and two
// minutes.
//
// FEEDSYNCD_PACEMAKER_ROOT names a root that debootstrap has already made, with PACKAGES.

import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { feedOf } from '../../helpers/feed.ts'
import { waitForRequest } from '../../helpers/sandbox/waiting.ts'
import { SECRET, Site } from '../../helpers/site.ts'
import { Machine } from './machine.ts'

const MINUTE = 60_000
const PROJECT = join(import.meta.dirname, '../../..')
const PACKAGES = [
  'pacemaker',
  'pacemaker-cli-utils',
  'kmod',
  'corosync',
  'pcs',
  'resource-agents',
  'iproute2',
  'socat',
  'curl',
  'e2fsprogs',
]
const MADE = process.env.FEEDSYNCD_PACEMAKER_ROOT
const BRIDGE = 'feedsyncd-test'
const HOST = '10.93.0.254'
const FENCE_PORT = 9093
const canRun =
  process.getuid?.() === 0 && spawnSync('debootstrap', ['--version']).error === undefined

const COROSYNC = `totem {
  version: 2
  cluster_name: test
  transport: knet
}
nodelist {
  node {
    nodeid: 1
    name: node-a
    ring0_addr: 10.93.0.1
  }
  node {
    nodeid: 2
    name: node-b
    ring0_addr: 10.93.0.2
  }
}
quorum {
  provider: corosync_votequorum
  two_node: 1
  wait_for_all: 0
}
`

const FENCE_AGENT = `#!/bin/sh
while read -r line; do case $line in action=*) action=\${line#*=};; port=*) port=\${line#*=};; esac; done
case $action in
metadata) cat <<END
<?xml version="1.0"?><resource-agent name="fence_test"><shortdesc>test</shortdesc><longdesc>test</longdesc>
<parameters><parameter name="port"><content type="string"/></parameter><parameter name="action"><content type="string"/></parameter></parameters>
<actions><action name="on"/><action name="off"/><action name="reboot"/><action name="status"/><action name="monitor"/><action name="list"/><action name="metadata"/></actions></resource-agent>
END
;;
off|reboot) exec curl -fsS -o /dev/null http://${HOST}:${FENCE_PORT}/$port ;;
esac
`

type Name = 'node-a' | 'node-b'
const other = (name: Name): Name => (name === 'node-a' ? 'node-b' : 'node-a')

describe.runIf(canRun)('two hosts and a disk that moves', { timeout: 5 * MINUTE }, () => {
  const out = mkdtempSync(join(tmpdir(), 'feedsyncd-pacemaker-'))
  const disk = join(out, 'disk')
  const nodes = {} as Record<Name, Machine>
  const servers: { close: () => unknown }[] = []
  /** fenced has the hosts that the fencing device switched off. */
  const fenced: Name[] = []
  let deviceWorks = true
  let refused = 0
  let loop = ''
  let site: Site

  const host = (line: string) => execFileSync('sh', ['-c', line], { encoding: 'utf8' })
  /** runningOn returns the hosts on which the daemon runs now. */
  const runningOn = async () => {
    const names = ['node-a', 'node-b'] as const
    const answers = await Promise.all(
      names.map((name) => nodes[name].run('systemctl is-active feedsyncd')),
    )
    return names.filter((_, n) => answers[n]?.stdout === 'active\n')
  }
  const drop = async (name: Name, feed: string, text: string) => {
    writeFileSync(join(nodes[name].root, feed), text)
    // Use the machine's own path: only the machine has mounted the disk with this folder.
    await nodes[name].must(
      `cat /${feed} > /srv/feedsyncd/inbox/.${feed} && mv /srv/feedsyncd/inbox/.${feed} /srv/feedsyncd/inbox/${feed}`,
    )
  }
  const untilUploaded = (name: Name, feed: string) =>
    vi.waitFor(
      async () => {
        const { uploads } = JSON.parse(await nodes[name].must('feedsyncd status --json'))
        expect(uploads).toContainEqual(expect.objectContaining({ feed, state: 'uploaded' }))
      },
      { timeout: MINUTE, interval: 300 },
    )

  /** boot starts a machine with its network, the disk, and a way to the service. */
  const boot = async (name: Name) => {
    const machine = nodes[name]
    await machine.boot()
    host(`ip link add ${name} type veth peer name eth0 netns ${machine.init}`)
    host(`ip link set ${name} master ${BRIDGE} up`)
    const address = name === 'node-a' ? '10.93.0.1/24' : '10.93.0.2/24'
    await machine.must(`ip addr add ${address} dev eth0 && ip link set eth0 up`)
    const [major, minor] = host(`stat -c '%t %T' ${loop}`).trim().split(' ')
    await machine.must(`mknod /dev/feedsyncd-disk b 0x${major} 0x${minor}`)
    for (const port of ports()) {
      const from = `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`
      await machine.must(`systemd-run -q socat ${from} TCP:${HOST}:${port}`)
    }
  }
  const joinCluster = (name: Name) => nodes[name].must('systemctl start corosync pacemaker')
  const ports = () =>
    [site.sandbox.url, site.sandbox.storageUrl].map((url) => Number(new URL(url).port))

  const untilBothOnline = () =>
    vi.waitFor(() => nodes['node-b'].must('crm_node --partition | grep -q "node-a node-b"'), {
      timeout: 2 * MINUTE,
      interval: 500,
    })
  /** isolate cuts only the network between the two hosts: each still reaches the service and the fencing device. */
  const isolate = (state: 'on' | 'off') => {
    for (const name of ['node-a', 'node-b'])
      spawnSync('bridge', ['link', 'set', 'dev', name, 'isolated', state])
  }

  beforeAll(async () => {
    execFileSync('node', ['systemd/package/main.ts', '--quick', '--revision', '1', '--out', out], {
      cwd: PROJECT,
    })
    const deb = readdirSync(out).find((name) => name.endsWith('.deb')) ?? ''
    host(`truncate -s 256M ${disk} && mkfs.ext4 -q ${disk}`)
    loop = host(`losetup --find --show ${disk}`).trim()
    host(
      `ip link add ${BRIDGE} type bridge && ip addr add ${HOST}/24 dev ${BRIDGE} && ip link set ${BRIDGE} up`,
    )
    site = await Site.open()
    servers.push(...ports().map(forward))
    const device = createHttpServer(async ({ url }, answer) => {
      const node = url?.slice(1) as Name
      if (deviceWorks) {
        await nodes[node].off()
        fenced.push(node)
      } else refused += 1
      answer.writeHead(deviceWorks ? 200 : 503).end()
    })
    servers.push(device.listen(FENCE_PORT, HOST))

    nodes['node-a'] = await Machine.install({
      name: 'node-a',
      packages: PACKAGES,
      ...(MADE && { like: MADE }),
    })
    nodes['node-b'] = await Machine.install({ name: 'node-b', like: nodes['node-a'].root })
    for (const name of ['node-a', 'node-b'] as const) {
      const { root } = nodes[name]
      const write = (path: string, text: string, mode = 0o644) =>
        writeFileSync(join(root, path), text, { mode })
      write('etc/corosync/corosync.conf', COROSYNC)
      write('usr/sbin/fence_test', FENCE_AGENT, 0o755)
      copyFileSync(join(out, deb), join(root, deb))
      host(`chroot ${root} systemctl disable corosync pacemaker pcsd`)
      host(`mkdir -p ${root}/srv/feedsyncd ${root}/etc/systemd/system/feedsyncd.service.d`)
      write(
        'etc/systemd/system/feedsyncd.service.d/local.conf',
        '[Service]\nReadWritePaths=/srv/feedsyncd\n',
      )
      await boot(name)
      await nodes[name].must(`dpkg -i /${deb}`)
      write('etc/feedsyncd/service.key', SECRET, 0o600)
      write(
        'etc/feedsyncd/feedsyncd.yaml',
        JSON.stringify({
          service: { baseUrl: site.sandbox.url, account: '123' },
          guards: { secondFeed: 'pass' },
          inbox: { directory: '/srv/feedsyncd/inbox', rescan: '1s', quietPeriod: '100ms' },
          state: { directory: '/srv/feedsyncd/state' },
        }),
      )
      await joinCluster(name)
    }
    await nodes['node-a'].must(
      'mount /dev/feedsyncd-disk /srv/feedsyncd && cd /srv/feedsyncd && mkdir inbox && install -d -o feedsyncd -g feedsyncd -m 750 state && cd / && umount /srv/feedsyncd',
    )
    const example = readFileSync(join(PROJECT, 'systemd/examples/pacemaker.sh'), 'utf8')
      .replaceAll('/dev/disk/by-label/feedsyncd', '/dev/feedsyncd-disk')
      .replaceAll(/fence_ipmilan ip=\S+ username=\S+ password_script=\S+/g, 'fence_test')
    writeFileSync(join(nodes['node-a'].root, 'root/pacemaker.sh'), example)
    await untilBothOnline()
    await nodes['node-a'].must('sh /root/pacemaker.sh')
  }, 15 * MINUTE)

  afterAll(async () => {
    for (const machine of Object.values(nodes)) await machine[Symbol.asyncDispose]()
    for (const server of servers) server.close()
    await site?.[Symbol.asyncDispose]()
    spawnSync('ip', ['link', 'del', BRIDGE])
    if (loop !== '') spawnSync('losetup', ['-d', loop])
    rmSync(out, { recursive: true })
  })

  let active: Name

  it('one host runs the daemon, which uploads feeds', async () => {
    active = await vi.waitFor(
      async () => {
        const [running, ...more] = await runningOn()
        expect([running === undefined, more]).toEqual([false, []])
        return running as Name
      },
      { timeout: MINUTE, interval: 500 },
    )

    await drop(active, 'jobs.xml', feedOf(3))

    await untilUploaded(active, 'jobs.xml')
  })

  it('when a host dies during an upload, it is fenced, and the other host stores the feed once', async () => {
    const at = { at: 'storage', kind: 'gate-at-byte', fileByte: 100, times: 1 } as const
    const gate = site.sandbox.faults.add(at)
    await drop(active, 'killed.xml', feedOf(20))
    await gate.held()

    const diedAt = Date.now()
    await nodes[active].off()
    const { startedAt } = await waitForRequest(
      site.sandbox,
      (request) => request.route === 'store' && request.startedAt > diedAt,
      MINUTE,
    )
    console.info(`a host died: the other one sent after ${startedAt - diedAt} ms`)
    active = other(active)
    await untilUploaded(active, 'killed.xml')

    expect(fenced).toEqual([other(active)])
    const stored = site.sandbox.objects().filter((object) => object.receivedAt > diedAt)
    expect(stored.map(({ writes }) => writes)).toEqual([1])
  })

  it('a host that comes back leaves the daemon where it runs', async () => {
    await boot(other(active))
    await joinCluster(other(active))
    await untilBothOnline()
    await nodes[active].must('crm_resource --wait')

    expect(await runningOn()).toEqual([active])
  })

  it('when the network between the hosts is cut, the waiting host is fenced, and the daemon runs on where it ran', async () => {
    fenced.length = 0
    const seen = new Set<string>()
    const cutAt = Date.now()
    isolate('on')
    await vi.waitFor(
      async () => {
        seen.add((await runningOn()).join())
        expect(fenced).toHaveLength(1)
      },
      { timeout: MINUTE, interval: 100 },
    )
    console.info(`the network was cut: a host was fenced after ${Date.now() - cutAt} ms`)
    isolate('off')

    expect(fenced).toEqual([other(active)])
    expect([...seen]).toEqual([active])
    await drop(active, 'cut.xml', feedOf(4))
    await untilUploaded(active, 'cut.xml')
  })

  it('when a host dies and the fencing device is dead, the other host starts the daemon only when the device works', async () => {
    await boot(other(active))
    await joinCluster(other(active))
    await untilBothOnline()
    deviceWorks = false

    await nodes[active].off()
    await vi.waitFor(() => expect(refused).toBeGreaterThan(1), { timeout: MINUTE, interval: 100 })
    expect(await runningOn()).toEqual([])

    deviceWorks = true
    active = other(active)
    await vi.waitFor(async () => expect(await runningOn()).toEqual([active]), {
      timeout: MINUTE,
      interval: 500,
    })
  })
})

/** forward lets the machines reach a port of this host's loopback. */
function forward(port: number): Server {
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1')
    from.on('error', () => to.destroy()).pipe(to)
    to.on('error', () => from.destroy()).pipe(from)
  })
  return server.listen(port, HOST)
}
