// The files of a package below one folder, at their paths on the host below /.

import { chmodSync, copyFileSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export class Tree {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  write(path: string, content: string | Buffer, mode = 0o644): void {
    writeFileSync(this.#ready(path), content)
    chmodSync(join(this.root, path), mode)
  }

  copy(path: string, source: string, mode = 0o644): void {
    copyFileSync(source, this.#ready(path))
    chmodSync(join(this.root, path), mode)
  }

  /** files returns every file relative to the root, sorted. */
  files(): string[] {
    const found = globSync('**', { cwd: this.root, withFileTypes: true })
    return found
      .filter((item) => item.isFile())
      .map((item) => join(item.parentPath, item.name).slice(this.root.length + 1))
      .sort()
  }

  #ready(path: string): string {
    const full = join(this.root, path)
    mkdirSync(dirname(full), { recursive: true, mode: 0o755 })
    return full
  }
}
