// Which feed a path belongs to, by the rules of the configuration. Pure: knows nothing of files, and
// never looks at what a feed contains.

import type { Mapping } from '../feed/port.ts'
import { capturingMatcher, fillTemplate } from '../lib/glob.ts'
import type { FeedConfig } from './config.ts'

/** What the rules say of one path. */
export interface FeedRule {
  /** The feed's name: the rule's, or the path. */
  feed: string
  /** Partner account to upload for; null: the configured identity. */
  account: string | null
  mapping: Mapping
  /** A version is expected at least this often; null: never overdue. */
  expectEveryMs: number | null
}

type Matcher = ReturnType<typeof capturingMatcher>

/** Patterns are compiled once a rule: a scan asks for each of its files. */
const matchers = new WeakMap<FeedConfig, Matcher>()

/**
 * The first rule that matches wins. `path` is relative to the folder, with `/`. A directory that cannot be read
 * (`acme/`) belongs to no rule's feed: it says nothing about the files of that feed.
 */
export function feedFor(path: string, rules: readonly FeedConfig[]): FeedRule {
  for (const rule of path.endsWith('/') ? [] : rules) {
    const captured = matcherOf(rule)(path)
    if (captured === null) continue
    const filled = (template: string | null) =>
      template === null ? null : fillTemplate(template, captured)
    return {
      feed: filled(rule.name) ?? path,
      account: filled(rule.partnerAccount),
      mapping: { records: rule.records, fields: rule.fields },
      expectEveryMs: rule.expectEveryMs,
    }
  }
  return {
    feed: path,
    account: null,
    mapping: { records: null, fields: {} },
    expectEveryMs: null,
  }
}

function matcherOf(rule: FeedConfig): Matcher {
  const known = matchers.get(rule)
  if (known !== undefined) return known
  const made = capturingMatcher(rule.match)
  matchers.set(rule, made)
  return made
}
