// The configuration in force. SIGHUP replaces it as a whole; what needs a restart keeps its first value.

import type { Config, Settings } from '../config/config.ts'
import { feedFor, type RuleFor } from '../config/feeds.ts'
import { keysForRestart } from '../config/reload.ts'

export class LiveSettings implements Settings {
  readonly #first: Config
  #current: Config

  constructor(config: Config) {
    this.#first = config
    this.#current = config
  }

  get current(): Config {
    return this.#current
  }

  /** What commands and the page show, and the campaigns are read by: folders and addresses as they were at the start. */
  get inForce(): Config {
    return { ...this.#first, feeds: this.#current.feeds }
  }

  readonly ruleFor: RuleFor = (path, named) => feedFor(path, this.#current.feeds, named)

  /** Answers the keys that have no effect before a restart. */
  replace(config: Config): string[] {
    this.#current = config
    return keysForRestart(this.#first, config)
  }
}
