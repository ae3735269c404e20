// Troubles of the host during a run of the soak, besides the faults of service and storage: the wall clock jumps, reads
// of a file fail for some time, and links replace files and folders of the vendor.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DAY, HOUR } from '../../../src/lib/clock.ts'
import { FaultyFiles, type FileFault, NO_COMPILER } from '../../helpers/faulty-files.ts'
import { feedOf, preload, type Site } from '../../helpers/site.ts'

const JUMPS = [400 * DAY, DAY, HOUR, -HOUR, -30 * DAY] as const
const ERRORS: readonly FileFault[] = ['EIO', 'ESTALE', 'EMFILE', 'ETIMEDOUT']

export class Trouble {
  readonly #site: Site
  readonly #files: FaultyFiles | null
  /**
   * returned is called when a file takes the place of its link again. The file then has a new ctime, as after a touch.
   */
  returned: (path: string) => void = () => {}
  /** #unlink replaces the link by the earlier file or folder. */
  #unlink: () => void = () => {}

  constructor(site: Site) {
    this.#site = site
    this.#files = NO_COMPILER === null ? new FaultyFiles(site.root) : null
    const clock = { ...preload('wrong-clock.ts'), FEEDSYNCD_CLOCK_FILE: this.#clockFile }
    site.env = { ...site.env, ...clock, ...this.#files?.env }
    mkdirSync(this.#outside, { recursive: true })
  }

  /** begin starts one trouble of the host, which `pick` chooses, and returns its description. */
  begin(path: string, pick: <T>(choices: readonly T[]) => T): string {
    const kind = pick(['clock', 'read', 'open', 'list', 'file link', 'folder link'] as const)
    switch (kind) {
      case 'clock': {
        const ahead = pick(JUMPS)
        this.#setClock(ahead)
        return `clock ${ahead} ms ahead`
      }
      case 'read':
      case 'open': {
        const error = pick(ERRORS)
        this.#files?.fail(kind, basename(path), error)
        return `${error} at ${kind} of ${path}`
      }
      case 'list': {
        const folder = dirname(path)
        const name = folder === '.' ? basename(this.#site.inbox) : basename(folder)
        const error = pick(ERRORS)
        this.#files?.fail('list', name, error)
        return `${error} at each list of ${name}`
      }
      case 'file link':
        return this.#link(path, path)
      case 'folder link':
        return this.#link(dirname(path) === '.' ? path : dirname(path), path)
      default:
        return kind satisfies never
    }
  }

  /** unlink puts the vendor's files back in their places. */
  unlink(): void {
    this.#unlink()
    this.#unlink = () => {}
  }

  /** end ends all troubles of the host. */
  end(): void {
    this.unlink()
    this.#files?.clearFaults()
    this.#setClock(0)
  }

  /** #link replaces `path`, a feed or its folder, by a link out of the inbox, and returns what it did. */
  #link(path: string, feed: string): string {
    this.end()
    const place = join(this.#site.inbox, path)
    if (!existsSync(place)) return `nothing at ${path} to replace by a link`
    const elsewhere = join(this.#outside, path === feed ? basename(path) : 'folder')
    mkdirSync(path === feed ? dirname(elsewhere) : elsewhere, { recursive: true })
    const secret = path === feed ? elsewhere : join(elsewhere, basename(feed))
    writeFileSync(secret, feedOf(60, 'Nobody may see this'))
    const parked = join(this.#site.root, 'parked')
    renameSync(place, parked)
    symlinkSync(elsewhere, place)
    this.#unlink = () => {
      // The daemon might have put its own file at the place of the link, but must never write through the link.
      if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(place)
      if (existsSync(place)) return rmSync(parked, { recursive: true, force: true })
      renameSync(parked, place)
      if (path === feed) this.returned(path)
    }
    return `${path} is a link`
  }

  #setClock(aheadMs: number): void {
    writeFileSync(`${this.#clockFile}.new`, String(aheadMs))
    renameSync(`${this.#clockFile}.new`, this.#clockFile)
  }

  get #clockFile(): string {
    return join(this.#site.root, 'clock')
  }

  get #outside(): string {
    return join(this.#site.root, 'outside')
  }
}
