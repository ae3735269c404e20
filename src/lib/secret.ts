// A value that cannot print itself: templates, JSON, console and logs all show `[secret]`.

import { inspect } from 'node:util'

export class Secret {
  readonly #value: Buffer

  constructor(value: Buffer | string) {
    this.#value = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf8')
  }

  /** The value itself: call it where the value is used, never to keep it. */
  reveal(): Buffer {
    return this.#value
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}
