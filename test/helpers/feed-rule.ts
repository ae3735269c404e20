// A rule for feeds, as the configuration has it after its defaults.

import type { FeedConfig } from '../../src/config/config.ts'

/** feedRule returns a rule with the default values for what `rest` does not name. */
export const feedRule = (match: string, rest: Partial<FeedConfig> = {}): FeedConfig => ({
  match,
  name: null,
  partnerAccount: null,
  dated: true,
  encoding: null,
  records: null,
  fields: {},
  expectEveryMs: null,
  ...rest,
})
