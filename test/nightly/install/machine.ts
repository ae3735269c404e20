// A fresh Debian as a separate machine, with the real systemd and without a container engine. debootstrap makes the
// root in memory, and boot-machine boots it in namespaces. It needs root, and removes all its files.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { vi } from 'vitest'

const BOOT = join(import.meta.dirname, 'boot-machine')
const MIRROR = process.env.FEEDSYNCD_DEBIAN_MIRROR ?? 'http://deb.debian.org/debian'
const RELEASE = process.env.FEEDSYNCD_DEBIAN_RELEASE ?? 'bookworm'
/** MADE is the path of a root that debootstrap made before, because copying it saves time; undefined without one. */
const MADE = process.env.FEEDSYNCD_DEBIAN_ROOT

export interface Answer {
  code: number
  stdout: string
  stderr: string
}

export class Machine implements AsyncDisposable {
  readonly root: string
  readonly #folder: string
  readonly #cgroup: string
  #shell: ChildProcess | null = null
  #init = 0

  private constructor(folder: string, name: string) {
    this.#folder = folder
    this.root = join(folder, 'root')
    this.#cgroup = join(unifiedGroups(), `feedsyncd-test-${process.pid}-${name}`)
  }

  /**
   * install makes a machine with systemd and `packages`, or a copy of the root in `like`. It takes one or two minutes,
   * mostly to download and unpack Debian's packages. `name` is the host name.
   */
  static async install({
    name = 'fresh',
    packages = [] as readonly string[],
    like = MADE,
  } = {}): Promise<Machine> {
    const folder = mkdtempSync(join(tmpdir(), 'feedsyncd-machine-'))
    // In memory, fsync is free.
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3g', 'tmpfs', folder])
    const machine = new Machine(folder, name)
    const release = ['--variant=minbase', '--include=systemd-sysv', RELEASE]
    try {
      if (like !== undefined) execFileSync('cp', ['-a', like, machine.root])
      else await promisify(execFile)('debootstrap', [...release, machine.root, MIRROR])
      const apt = ['apt-get', 'install', '--yes', '--no-install-recommends', ...packages]
      if (packages.length > 0) await promisify(execFile)('chroot', [machine.root, ...apt])
      writeFileSync(join(machine.root, 'etc/hostname'), `${name}\n`)
    } catch (error) {
      await machine[Symbol.asyncDispose]()
      throw error
    }
    return machine
  }

  /** boot starts the machine, and resolves when its systemd runs all units. */
  async boot(): Promise<void> {
    const shell = spawn(BOOT, [this.root, this.#cgroup], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    this.#shell = shell
    await vi.waitFor(() => {
      const children = readFileSync(`/proc/${shell.pid}/task/${shell.pid}/children`, 'utf8')
      this.#init = Number(children.trim() || Number.NaN)
      if (readFileSync(`/proc/${this.#init}/comm`, 'utf8') !== 'systemd\n') throw new Error('boots')
    }, 10_000)
    await vi.waitFor(async () => {
      const { stdout } = await this.run('systemctl is-system-running')
      if (stdout !== 'running\n') throw new Error(`the machine is ${stdout}`)
    }, 30_000)
  }

  /** run runs a line of shell on the machine, as root. */
  run(line: string): Promise<Answer> {
    // Enter all namespaces and the root of the machine, without the environment of this process.
    const args = ['-t', String(this.#init), '-m', '-u', '-i', '-n', '-p', '-C', '-r', '-w']
    const env = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL=C.UTF-8']
    return new Promise((resolve) => {
      const own = [...args, ...env, 'sh', '-c', line]
      execFile('nsenter', own, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
      })
    })
  }

  /** must returns the output of a line. Throws if the line fails. */
  async must(line: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(line)
    if (code !== 0) throw new Error(`${line}: ${code}\n${stdout}${stderr}`)
    return stdout.trimEnd()
  }

  /** unit returns a property of the unit feedsyncd. */
  unit(property: string): Promise<string> {
    return this.must(`systemctl show feedsyncd --value --property=${property}`)
  }

  /** files returns every path on the machine's disk that belongs to packages and their configuration. */
  async files(): Promise<string[]> {
    const apart = [
      '/proc',
      '/sys',
      '/dev',
      '/run',
      '/tmp',
      '/var/log',
      '/var/cache',
      '/var/lib/dpkg',
    ]
    const pruned = apart.map((path) => `-path ${path}`).join(' -o ')
    const found = await this.must(`find / -xdev \\( ${pruned} \\) -prune -o -print`)
    return found.split('\n').sort()
  }

  /** init is the machine's systemd: its process id on this host. */
  get init(): number {
    return this.#init
  }

  /** off ends every process of the machine at once, as a power cut does. `boot` starts it again. */
  async off(): Promise<void> {
    const shell = this.#shell
    if (shell === null) return
    if (shell.exitCode === null && shell.signalCode === null) {
      const gone = new Promise((resolve) => shell.once('exit', resolve))
      // The end of unshare ends the machine's first process, and that ends all others.
      shell.kill('SIGKILL')
      await gone
    }
    this.#shell = null
    await vi.waitFor(() => removeGroups(this.#cgroup), 10_000)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.off()
    execFileSync('umount', ['-l', this.#folder])
    rmSync(this.#folder, { recursive: true })
  }
}

/** unifiedGroups returns the mount point of cgroup v2, which can exist beside cgroup v1. */
function unifiedGroups(): string {
  const line = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((entry) => entry.includes(' - cgroup2 '))
  const path = line?.split(' ')[4]
  if (path === undefined) throw new Error('no cgroup2 is mounted')
  return path
}

function removeGroups(path: string): void {
  for (const item of readdirSync(path, { withFileTypes: true })) {
    if (item.isDirectory()) removeGroups(join(path, item.name))
  }
  rmdirSync(path)
}
