// The configuration in force. SIGHUP replaces it; what waits for a restart keeps the value before.

import type { Config, Settings } from '../config/config.ts'
import { feedFor, type RuleFor } from '../config/feeds.ts'
import { reloaded } from '../config/reload.ts'

export class LiveSettings implements Settings {
  #current: Config

  constructor(config: Config) {
    this.#current = config
  }

  get current(): Config {
    return this.#current
  }

  readonly ruleFor: RuleFor = (path, named) => feedFor(path, this.#current.feeds, named)

  /** Answers the keys that have no effect before a restart. */
  replace(config: Config): string[] {
    const { config: current, waiting } = reloaded(this.#current, config)
    this.#current = current
    return waiting
  }
}
