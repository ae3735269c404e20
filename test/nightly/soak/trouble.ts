// What the host does to a run of the soak, beside the faults of the service and its storage: the wall clock
// jumps, reading a file fails for a while, and links stand where the vendor's files and folders were.

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
  /** Told of a file that stands again where a link was: its ctime is new, as after a touch. */
  returned: (path: string) => void = () => {}
  /** Puts back what stood where a link is now. */
  #unlink: () => void = () => {}

  constructor(site: Site) {
    this.#site = site
    this.#files = NO_COMPILER === null ? new FaultyFiles(site.root) : null
    const clock = { ...preload('wrong-clock.ts'), FEEDSYNCD_CLOCK_FILE: this.#clockFile }
    site.env = { ...site.env, ...clock, ...this.#files?.env }
    mkdirSync(this.#outside, { recursive: true })
  }

  /** One trouble of the host, chosen by `pick`; answers what it is. */
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

  /** The vendor's files stand where they were. */
  unlink(): void {
    this.#unlink()
    this.#unlink = () => {}
  }

  /** The host is well again. */
  end(): void {
    this.unlink()
    this.#files?.clearFaults()
    this.#setClock(0)
  }

  /** Where `path` was, a link shows a feed that lies outside the inbox. */
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
      // The daemon may have left something of its own where the link was: never through the link.
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
